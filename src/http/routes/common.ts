/** What routes share: parameters, hints about one object, and the order of a write. */
import { isUuid } from '../../acl/names.js';
import { ApiError, reject } from '../../base/errors.js';
import { anyObject } from '../../languages/fields.js';
import type { BootstrapReset } from '../../service/acl/bootstrap.js';
import type { LintMode, ObjectUseCases } from '../../service/acl/objects.js';
import { modifyIndexOf, readState } from '../../service/common/reading.js';
import type { ReadOutcome, Service, StateRead } from '../../service/common/types.js';
import type { Write } from '../../service/common/writing.js';
import type { EventHub } from '../../service/events/hub.js';
import type { DecisionParts } from '../../service/explain/decision-reads.js';
import type { FeedParts } from '../../service/explain/rights-feed.js';
import type { WhoCanParts } from '../../service/explain/who-can.js';
import type { LoginParts } from '../../service/login/login.js';
import type { SetParts } from '../../service/sets/judge.js';
import type { UsageParts } from '../../service/usage/usage.js';
import type { AuthzenParts } from './authzen.js';
import type { ApiRequest, BodyType } from './types.js';

export interface AclParts
  extends LoginParts,
    Omit<DecisionParts, 'decisions'>,
    WhoCanParts,
    SetParts,
    AuthzenParts,
    FeedParts {
  readonly authorizers: DecisionParts['authorizers'] & AuthzenParts['authorizers'];
  readonly decisions: DecisionParts['decisions'] & AuthzenParts['decisions'];
  readonly events: EventHub;
  readonly usage: UsageParts['usage'];
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
  noteOwner: (owner) => request.noteOwner(owner),
  reason: request.reason,
  notes: request.notes,
  match: request.precondition(),
});

/** Returns who reads the state, and of which namespace, without waiting for a change. */
export const stateReadOf = (request: ApiRequest, ns = request.namespace()): StateRead => ({
  caller: request.caller,
  ns,
  options: request.singleReadOptions(),
});

/** Returns the entity tag of an object, given its text. */
export const etagOf = (text: string): string => `"${modifyIndexOf(text)}"`;

/** The beginning of the error for a body that cannot be decoded. */
export const UNDECODED = 'Failed to decode request body';

const PATCHES = ['application/merge-patch+json', 'application/json', ''];

/** Throws ApiError 415 unless the body is sent as a patch. */
export function mustBePatch({ incoming: { headers } }: ApiRequest): void {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (PATCHES.includes(type)) return;
  const shown = JSON.stringify(type.slice(0, 60));
  reject('unsupported_media_type', `Content-Type ${shown} is not supported here`, {
    hint: `a patch is sent as ${PATCHES[0]}`,
  });
}

/**
 * Answers a read of the past. If what it asks for is no longer known, the 404 carries the index of
 * the state, as for a missing object.
 */
export async function answerPast(
  service: Service,
  request: ApiRequest,
  read: Promise<ReadOutcome<string | undefined>>,
  missing?: string,
): Promise<void> {
  const answer = async (): Promise<void> => request.answerRead(await read, missing);
  await withIndex(service, request, answer());
}

/** Waits for an answer. Adds the index of the state to a 404 that it throws. */
export async function withIndex(
  service: Service,
  request: ApiRequest,
  answer: Promise<void>,
): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.code !== 'not_found') throw error;
    const { message, hint, members } = error.refusal;
    const asked = { caller: request.caller, options: request.singleReadOptions() };
    const state = await readState(service, asked, () => true);
    request.answerMissing(state, message, hint, members);
  }
}

/**
 * Waits for a permission before the body is read; throws what it throws. A caller who is refused
 * does not learn what the body would have done. Of a tiny body it does learn whether that is not
 * JSON, which clients that send none rely on, and which right it needs: `mustMay` throws that 403.
 */
export async function admit(
  request: ApiRequest,
  failure: string,
  permission: Promise<unknown>,
  body?: { readonly type: BodyType; readonly mustMay: (body: unknown) => Promise<void> },
): Promise<void> {
  try {
    await permission;
  } catch (error) {
    if (request.hasTinyBody) {
      const sent = await request.bodyValue(failure, body?.type ?? anyObject, { small: true });
      await body?.mustMay(sent).catch(rethrowDenial);
    }
    throw error;
  }
}

/** Tells a caller without the right nothing about the body except the missing right. */
function rethrowDenial(error: unknown): void {
  if (!(error instanceof ApiError) || error.refusal.code === 'permission_denied') throw error;
}

/** Names that a hint may repeat. */
const PLAIN_NAME = /^[\w-]{1,64}$/;

/**
 * Answers the read of one object, or a 404 with the sentence `missing`. `nearest` returns a similar
 * name that exists, if there is one. It is not asked for requests that wait for changes: thousands
 * may wait for one object, and all are answered in one turn once it is deleted.
 */
export function answerOne(
  request: ApiRequest,
  outcome: ReadOutcome<string | undefined>,
  missing: string,
  nearest: () => string | undefined,
): void {
  const isFound = outcome.value !== undefined;
  const near = isFound || request.flag('index') ? undefined : nearest();
  const hint = near === undefined ? undefined : `did you mean ${JSON.stringify(near)}?`;
  if (isFound) request.answerRead(outcome);
  else request.answerMissing(outcome, missing, hint);
}

/** Returns the hint for an id; undefined if it is one. */
export type IdHelp = (id: string) => string | undefined;

/** Returns the hint for objects that have IDs, for clients that may have sent a name. */
export function helpOf<B>(useCases: ObjectUseCases<B>, path: string, listPath: string): IdHelp {
  return (id) => {
    if (useCases.definition.identity === 'Name' || isUuid(id)) return undefined;
    const list = `the list is ${listPath}`;
    if (useCases.readByName === undefined) return list;
    return `by name it is ${path}/name/${PLAIN_NAME.test(id) ? id : ':name'}; ${list}`;
  };
}

/** Resolves as `work` does. If the id is refused because it is not a UUID, adds the hint. */
export function withIdHint<T>(help: IdHelp, id: string | undefined, work: Promise<T>): Promise<T> {
  const hint = id === undefined ? undefined : help(id);
  if (hint === undefined) return work;
  return work.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.refusal.about?.kind !== 'id') throw error;
    throw new ApiError({ ...error.refusal, hint });
  });
}
