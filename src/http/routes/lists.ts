/** Answers lists, whole or by page, at once or in pieces. */
import { escapeHtml } from '../../languages/json.js';
import type {
  PageMeta,
  QueryMeta,
  ReadOutcome,
  ReadUseCase,
  Service,
} from '../../service/common/types.js';
import { paged } from '../../service/reads/list-pages.js';
import type { ListPlan } from '../../service/reads/list-plan.js';
import {
  decided,
  heldList,
  listPieces,
  ofSome,
  shortList,
} from '../../service/reads/list-rendering.js';
import { nextOf, pageOf } from './pages.js';
import type { ApiRequest } from './types.js';

/** Parameters that filter a list. */
const NARROWING = ['filter', 'search', 'policy', 'role', 'servicename', 'authmethod', 'subject'];

/**
 * Reads a list and answers it, a long one over a view that is frozen after the read. The view may
 * be newer than the index of the answer, never older, so blocking queries miss nothing.
 * `ofNamespaces`: the list shows several namespaces or what is in them, without those that are
 * hidden from the caller.
 */
export async function answerList(
  service: Service,
  request: ApiRequest,
  useCase: ReadUseCase<ListPlan>,
  ofNamespaces = request.namespaceOrAll() === '*',
): Promise<void> {
  const options = request.readOptions();
  const page = pageOf(request);
  const isNarrow = ofNamespaces || NARROWING.some((name) => request.query(name) !== undefined);
  const pages = page === undefined ? useCase : paged(useCase, page);
  const shown = isNarrow ? ofSome(service, pages) : pages;
  const { value: plan, ...outcome } = await service.read(request.caller, options, shown);
  await answerPlan(service, request, plan, outcome);
}

/**
 * Answers a list, a long one in pieces, over a view that is frozen at the call. Which items it
 * shows is decided before: a refused filter is a 400, however long the list.
 */
export async function answerPlan(
  service: Service,
  request: ApiRequest,
  plan: ListPlan,
  outcome: Omit<ReadOutcome<unknown>, 'value'>,
): Promise<void> {
  const short = shortList(service.view, plan);
  if (short !== undefined) return request.answerList({ ...outcome, value: short });
  const pinned = service.pin();
  try {
    const isPretty = request.flag('pretty');
    // a long list is indented piece by piece
    const shown = {
      ...(await decided(service, pinned, plan)),
      ...(isPretty && { held: undefined, shared: undefined }),
    };
    const filtered = outcome.filtered || shown.filtered;
    const meta = { ...outcome, filtered, ...pageMeta(request, shown.page) };
    if (shown.shared !== undefined && !shown.filtered) {
      const value = await shown.shared(pinned, shown);
      if (value !== undefined) return request.answerBytes({ ...meta, value });
    } else {
      const value = await heldList(pinned, shown);
      if (value !== undefined) return request.answerList({ ...meta, value });
    }
    const pieces = listPieces(pinned, shown, isPretty);
    await request.answerStream(escaped(pieces), { outcome: meta });
  } finally {
    pinned.close();
  }
}

/** Returns what the headers of a page say of its list. */
const pageMeta = (request: ApiRequest, page: PageMeta | undefined): Pick<QueryMeta, 'page'> =>
  page === undefined
    ? {}
    : { page: { total: page.total, next: page.next && nextOf(request, page.next) } };

/** Escapes what browsers could take for HTML. */
export async function* escaped(
  pieces: Iterable<string> | AsyncIterable<string>,
): AsyncIterable<string> {
  for await (const piece of pieces) yield escapeHtml(piece);
}
