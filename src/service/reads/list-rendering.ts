/**
 * Renders lists of objects in steps. One turn of the event loop reads the keys of a list. A filter
 * then decides which of its items are shown, and these are rendered, both a few at a time, because
 * tens of thousands would delay heartbeats.
 */
import { createHash } from 'node:crypto';
import { named } from '../../base/works.js';
import type { View } from '../../state/types.js';
import { inSlices, nextTurn } from '../common/event-loop.js';
import type { Matches } from '../common/filters.js';
import { Links } from '../common/reading.js';
import type { ReadUseCase, Service } from '../common/types.js';
import { pageOf } from './list-pages.js';
import {
  type DecidedList,
  type Held,
  type ListPlan,
  lazy,
  type Rendered,
  type Shows,
} from './list-plan.js';

/** Items rendered in one turn of the event loop, so that a long list delays nothing else. */
const ITEMS_PER_TURN = 256;
/**
 * Approximate characters of the items rendered in one turn. A client that does not read its answer
 * keeps that much in memory.
 */
const LENGTH_PER_TURN = 64 * 1024;
const ONE_TURN: Held = { items: ITEMS_PER_TURN, length: LENGTH_PER_TURN };

/** Returns the plan of a list of what `itemOf` makes, filtered by `begin` if that is set. */
export function planOf(
  candidates: () => readonly string[],
  itemOf: (view: View, candidate: string, links: Links) => object | undefined,
  begin: (() => Matches) | undefined,
): ListPlan {
  return {
    candidates: lazy(candidates),
    render(...where) {
      const item = itemOf(...where);
      return item && JSON.stringify(item);
    },
    filter:
      begin &&
      (() => {
        const matches = begin();
        return (...where) => {
          const item = itemOf(...where);
          return item !== undefined && matches(item);
        };
      }),
  };
}

/**
 * Returns a list with the keys of the items that it shows in this view. Throws ApiError 400 if the
 * filter takes too much work.
 */
export async function decided(service: Service, view: View, plan: ListPlan): Promise<DecidedList> {
  const { page, render } = plan;
  if (page !== undefined) {
    const { candidates, filtered, ...meta } = await pageOf(service, view, plan, page);
    return { candidates, render, filtered, page: meta };
  }
  const shows = plan.filter?.();
  const { held, shared } = plan;
  if (shows === undefined)
    return { candidates: plan.candidates(), render, held, shared, filtered: false };
  return inSlices(shownOf(view, plan, shows), 'list');
}

function* shownOf(view: View, plan: ListPlan, shows: Shows): Generator<void, DecidedList> {
  const { render, held, shared } = plan;
  const links = new Links(view);
  const candidates: string[] = [];
  let filtered = false;
  for (const candidate of plan.candidates()) {
    const isShown = shows(view, candidate, links);
    if (isShown === true) candidates.push(candidate);
    filtered ||= isShown === 'hidden';
    yield;
  }
  return { candidates, render, held, shared, filtered };
}

/**
 * Returns all items of a list that is not filtered, if one turn is enough for them; otherwise
 * undefined.
 */
export function shortList(view: View, plan: ListPlan): readonly string[] | undefined {
  if (plan.filter !== undefined || plan.page !== undefined) return undefined;
  const whole = { candidates: plan.candidates(), render: plan.render };
  if (whole.candidates.length > ITEMS_PER_TURN) return undefined;
  const { items, next } = render(view, whole, 0, new Links(view));
  return next === whole.candidates.length ? items : undefined;
}

/** Returns all items if they may be in memory while a client reads them; otherwise undefined. */
export async function heldList(
  view: View,
  plan: DecidedList,
  held = plan.held ?? ONE_TURN,
): Promise<readonly string[] | undefined> {
  if (plan.candidates.length > held.items) return undefined;
  return inSlices(itemsUpTo(view, plan, held.length), 'list');
}

function* itemsUpTo(
  view: View,
  plan: Rendered,
  lengthMax: number,
): Generator<void, readonly string[] | undefined> {
  const links = new Links(view);
  const texts: string[] = [];
  let length = 0;
  for (const candidate of plan.candidates) {
    if (length >= lengthMax) return undefined;
    const text = plan.render(view, candidate, links);
    if (text !== undefined) texts.push(text);
    length += text?.length ?? 0;
    yield;
  }
  return texts;
}

/** Yields the items in chunks. Other work runs between them. */
export async function* listChunks(view: View, plan: Rendered): AsyncIterable<readonly string[]> {
  const links = new Links(view);
  for (let at = 0; at < plan.candidates.length; ) {
    const { items, next } = named('list', () => render(view, plan, at, links));
    if (items.length > 0) yield items;
    at = next;
    await nextTurn();
  }
}

/** Returns the use case of a list that shows only some of its items. */
export const ofSome =
  (service: Service, useCase: ReadUseCase<ListPlan>): ReadUseCase<ListPlan> =>
  (context) => {
    const answer = useCase(context);
    return { ...answer, digest: () => digestOf(service, answer.value) };
  };

/** Returns a digest of what a list shows in the present state; undefined if that is everything. */
export async function digestOf(service: Service, plan: ListPlan): Promise<string | undefined> {
  const view = service.pin();
  try {
    const shown = await decided(service, view, plan);
    const { filtered } = shown;
    if (plan.asksForAll && !filtered) return undefined;
    const hash = createHash('sha256').update(JSON.stringify({ filtered }));
    for await (const items of listChunks(view, shown)) {
      // A line break separates the items: no compact JSON text contains one.
      for (const item of items) hash.update(item).update('\n');
    }
    return hash.digest('base64');
  } finally {
    view.close();
  }
}

/**
 * Yields the JSON text of a list in pieces, with a newline at the end. It is indented if `pretty`
 * (the parameter `?pretty`).
 */
export async function* listPieces(
  view: View,
  plan: Rendered,
  pretty = false,
): AsyncIterable<string> {
  const between = pretty ? ',\n' : ',';
  let before = pretty ? '[\n' : '[';
  let isEmpty = true;
  for await (const items of listChunks(view, plan)) {
    const texts = pretty ? items.map(indented) : [...items];
    // A long item ends its turn. It is sent by itself: joined to others it would be in memory
    // twice.
    const long = texts.at(-1)!.length < LENGTH_PER_TURN ? undefined : texts.pop();
    yield before + texts.join(between);
    if (long !== undefined) {
      if (texts.length > 0) yield between;
      yield long;
    }
    before = between;
    isEmpty = false;
  }
  if (isEmpty) yield '[';
  yield pretty && !isEmpty ? '\n]\n' : ']\n';
}

/** Returns an item of an indented list. JSON strings contain no line break, so each line is one. */
const indented = (item: string): string =>
  JSON.stringify(JSON.parse(item), null, 4).replace(/^/gm, '    ');

/** Renders the items of one turn, from a candidate on. Returns them and the next candidate. */
function render(
  view: View,
  { candidates, render: itemOf }: Rendered,
  from: number,
  links: Links,
): { readonly items: readonly string[]; readonly next: number } {
  const items: string[] = [];
  const end = Math.min(candidates.length, from + ITEMS_PER_TURN);
  let next = from;
  for (let length = 0; next < end && length < LENGTH_PER_TURN; next += 1) {
    const item = itemOf(view, candidates[next]!, links);
    if (item === undefined) continue;
    items.push(item);
    length += item.length;
  }
  return { items, next };
}
