/**
 * Lists of objects in two steps: what is in them is decided in one turn of the loop, and they are
 * rendered some items at a time, because tens of thousands of them would hold up the heartbeats.
 */
import { createHash } from 'node:crypto';
import type { View } from '../state/types.js';
import { type Made, readList } from './blocking-lists.js';
import { nextTurn } from './event-loop.js';
import { Links } from './reading.js';
import type { Caller, ReadOptions, ReadOutcome, ReadUseCase, Service } from './types.js';

/** A list decided on but not rendered yet. */
export interface ListPlan {
  /** State keys, in the order of the answer, from which items are made. */
  readonly candidates: readonly string[];
  /** The JSON text of an item; undefined when it is not shown. */
  readonly render: (view: View, candidate: string, links: Links) => string | undefined;
}

/** Items rendered in one turn of the event loop, so that nothing else waits for a long list. */
const ITEMS_PER_TURN = 256;
/**
 * Characters of the items rendered in one turn, more or less: a client that does not read keeps as
 * much in memory.
 */
const LENGTH_PER_TURN = 64 * 1024;

/** All items, if one turn is enough for them; undefined: they are to be made in pieces. */
export function shortList(view: View, plan: ListPlan): readonly string[] | undefined {
  if (plan.candidates.length > ITEMS_PER_TURN) return undefined;
  const { items, next } = render(view, plan, 0, new Links(view));
  return next === plan.candidates.length ? items : undefined;
}

/** The items, some at a time, with room for other work between. */
export async function* listChunks(view: View, plan: ListPlan): AsyncIterable<readonly string[]> {
  const links = new Links(view);
  for (let at = 0; at < plan.candidates.length; ) {
    const { items, next } = render(view, plan, at, links);
    if (items.length > 0) yield items;
    at = next;
    await nextTurn();
  }
}

/**
 * Reads a list that shows only some of its items; while it is held, it waits for a change of these.
 */
export function readSome(
  service: Service,
  caller: Caller,
  options: ReadOptions,
  useCase: ReadUseCase<ListPlan>,
): Promise<ReadOutcome<ListPlan>> {
  return readList(options, async (how, withDigest): Promise<Made<ReadOutcome<ListPlan>>> => {
    const outcome = await service.read(caller, how, useCase);
    return withDigest ? { outcome, digest: await digestOf(service, outcome.value) } : { outcome };
  });
}

async function digestOf(service: Service, plan: ListPlan): Promise<string> {
  const view = service.pin();
  try {
    const hash = createHash('sha256');
    for await (const items of listChunks(view, plan)) {
      // no JSON text holds a line break
      for (const item of items) hash.update(item).update('\n');
    }
    return hash.digest('base64');
  } finally {
    view.close();
  }
}

/** The JSON text of the list in pieces; `pretty` as `?pretty` asks. */
export async function* listPieces(
  view: View,
  plan: ListPlan,
  pretty = false,
): AsyncIterable<string> {
  const between = pretty ? ',\n' : ',';
  let before = pretty ? '[\n' : '[';
  let isEmpty = true;
  for await (const items of listChunks(view, plan)) {
    const texts = pretty ? items.map(indented) : [...items];
    // a long one, which ends its turn, leaves as it is: joined it would be in memory twice
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
  yield pretty ? (isEmpty ? ']\n' : '\n]\n') : ']';
}

/** An item as it stands in an indented list. No JSON text holds a line break inside a string. */
const indented = (item: string): string =>
  JSON.stringify(JSON.parse(item), null, 4).replace(/^/gm, '    ');

/** The items from a candidate on that one turn makes, and the candidate after them. */
function render(
  view: View,
  { candidates, render: itemOf }: ListPlan,
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
