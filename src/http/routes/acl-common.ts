/** What the routes of ACL objects share. */
import { reject } from '../../base/errors.js';
import { escapeHtml } from '../../languages/json.js';
import type { BootstrapReset } from '../../service/acl/bootstrap.js';
import type { LintMode } from '../../service/acl/objects.js';
import type { ReadOutcome, ReadUseCase, Service } from '../../service/common/types.js';
import type { Write } from '../../service/common/writing.js';
import type { DecisionParts } from '../../service/explain/decision-reads.js';
import type { WhoCanParts } from '../../service/explain/who-can.js';
import type { LoginParts } from '../../service/login/login.js';
import {
  decided,
  type ListPlan,
  listPieces,
  readSome,
  shortList,
} from '../../service/reads/list-rendering.js';
import type { ApiRequest } from './types.js';

/** What the routes of ACL objects work on. */
export interface AclParts extends LoginParts, DecisionParts, WhoCanParts {
  readonly nodeName: string;
  readonly defaultPolicy: 'deny' | 'allow';
  readonly lint: LintMode;
  /** The token that a bootstrap must send, if any. */
  readonly bootstrapSecret?: string | undefined;
  /** Where an operator allows another bootstrap. */
  readonly bootstrapReset?: BootstrapReset;
}

/** Returns a parameter of the path. Throws ApiError 400 `Missing <what>` if it is empty. */
export function mustHave(request: ApiRequest, name: string, what: string): string {
  const value = request.param(name);
  return value === '' ? reject('invalid', `Missing ${what}`) : value;
}

/** Returns the write of a request. The body of an ACL object may name its namespace. */
export const writeOf = (request: ApiRequest, bodyNamespace?: string): Write => ({
  caller: request.caller,
  ns: request.namespace(bodyNamespace),
  timeoutMs: request.timeoutMs,
});

/** Parameters that leave items of a list out. */
const NARROWING = ['filter', 'policy', 'role', 'servicename', 'authmethod'];

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
  ofNamespaces = request.query('ns') === '*',
): Promise<void> {
  const options = request.readOptions();
  const isNarrow = ofNamespaces || NARROWING.some((name) => request.query(name) !== undefined);
  const { value: plan, ...outcome } = isNarrow
    ? await readSome(service, request.caller, options, useCase)
    : await service.read(request.caller, options, useCase);
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
  const short = plan.filter === undefined ? shortList(service.view, plan) : undefined;
  if (short !== undefined) return request.answerList({ ...outcome, value: short });
  const pinned = service.pin();
  try {
    const shown = await decided(pinned, plan);
    const value = shortList(pinned, shown);
    if (value !== undefined) return request.answerList({ ...outcome, value });
    const pieces = listPieces(pinned, shown, request.flag('pretty'));
    await request.answerStream(escaped(pieces), { outcome });
  } finally {
    pinned.close();
  }
}

async function* escaped(pieces: AsyncIterable<string>): AsyncIterable<string> {
  for await (const piece of pieces) yield escapeHtml(piece);
}
