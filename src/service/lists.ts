/**
 * Lists of objects in two steps: what is in them is decided in one turn of the loop, and they are rendered some items at a
 * time, because tens of thousands of them would hold up the heartbeats.
 */
import { createHash } from 'node:crypto';
import type { View } from '../state/types.js';
import { type Made, readList } from './held-lists.js';
import { Links } from './reading.js';
import { nextTurn } from './turns.js';
import type { Caller, ReadOptions, ReadOutcome, ReadUseCase, Service } from './types.js';

/** A list decided on but not rendered yet. */
export interface ListPlan {
  /** State keys, in the order of the answer, from which items are made. */
  readonly candidates: readonly string[];
  /** The JSON text of an item; undefined when it is not shown. */
  readonly render: (view: View, candidate: string, links: Links) => string | undefined;
}

const ITEMS_PER_TURN = 256;

/** Whether a list is short enough to be rendered in one turn. */
export const isShort = ({ candidates }: ListPlan): boolean => candidates.length <= ITEMS_PER_TURN;

/** All items in one turn: for short lists. */
export const listItems = (view: View, plan: ListPlan): string[] =>
  render(view, plan, plan.candidates, new Links(view));

/** The items, some at a time, with room for other work between. */
export async function* listChunks(view: View, plan: ListPlan): AsyncIterable<readonly string[]> {
  const links = new Links(view);
  for (let at = 0; at < plan.candidates.length; at += ITEMS_PER_TURN) {
    const items = render(view, plan, plan.candidates.slice(at, at + ITEMS_PER_TURN), links);
    if (items.length > 0) yield items;
    await nextTurn();
  }
}

/** Reads a list that shows only some of its items; while it is held, it waits for a change of these. */
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

/** The JSON text of the list in pieces. */
export async function* listPieces(view: View, plan: ListPlan): AsyncIterable<string> {
  let separator = '[';
  for await (const items of listChunks(view, plan)) {
    yield separator + items.join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

function render(view: View, plan: ListPlan, candidates: readonly string[], links: Links): string[] {
  const items: string[] = [];
  for (const candidate of candidates) {
    const item = plan.render(view, candidate, links);
    if (item !== undefined) items.push(item);
  }
  return items;
}
