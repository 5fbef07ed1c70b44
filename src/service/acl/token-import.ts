/** Use cases of tokens that come from elsewhere with their secrets (moving-in.md 1.1). */
import { ANONYMOUS_SECRET, isReservedId } from '../../acl/builtin.js';
import { isUuid } from '../../acl/names.js';
import type { Steps } from '../../acl/steps.js';
import type { ImportBody, Imported, SentToken } from '../../api/endpoints/imports.js';
import { ApiError, type Refusal, refusal, refuse, refuseIf, reject } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import { Overlay } from '../../state/draft.js';
import { keys } from '../../state/keys.js';
import { HIDDEN } from '../../state/put-form.js';
import { refOf, TYPES } from '../../state/refs.js';
import {
  IMPORTED_MAX,
  type ImportCounts,
  type ImportedToken,
  importDenial,
  importSteps,
  type TokensImport,
} from '../../state/token-import.js';
import type { View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';
import { stateIndex } from '../common/reading.js';
import type { Caller, Requester, Service } from '../common/types.js';
import { reasoned } from '../common/writing.js';
import { subjectOf } from '../login/claims.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { normaliseGrants } from '../rights/grants.js';
import { budgetProblem } from '../rights/policy-budget.js';

/** What these use cases need of a node. */
export interface ImportParts extends LongWorkParts {
  readonly nowMs: () => number;
  /** The largest command, in bytes. */
  readonly bodyBytes: number;
}

/** How often an import is judged again because the state has changed meanwhile. */
const RETRIES_MAX = 5;
/** A token that expires this soon would be gone before anybody used it. */
const ENDING_MS = 10_000;
/** How far the clock of a source may be ahead. */
const AHEAD_MS = 5 * 60_000;
/** An owner has 128 characters at most, and begins with `migrate/`. */
const SOURCE = /^[A-Za-z0-9._/-]{1,120}$/;
const SECRET = /^[!-~]{1,256}$/;
/** Words that Consul or this server gives a meaning. */
const NO_SECRETS = [ANONYMOUS_SECRET, 'allow', 'deny', 'manage', HIDDEN];

/** Permits an import before its body is read. Throws ApiError 403. */
export const mayImport = (service: Service, requester: Requester): Promise<unknown> =>
  service.permit(requester, (authorizer) => importDenial(authorizer, []));

/**
 * Imports tokens, or judges that. `namespaceOf` returns the namespace of a token by what it says
 * itself. Throws ApiError.
 */
export async function importTokens(
  parts: ImportParts,
  sender: Requester,
  body: ImportBody,
  namespaceOf: (sent?: string) => string,
): Promise<Imported> {
  const { service, longWork } = parts;
  const requester = reasoned(sender, body.Reason);
  const { caller, timeoutMs } = requester;
  const sent = new SentImport(parts.nowMs(), body);
  await inSlices(sent.read(body, namespaceOf), 'decode');
  await service.permit(requester, (authorizer) => importDenial(authorizer, sent.places));
  await service.catchUp(timeoutMs);
  for (let retries = 0; ; retries += 1) {
    const judged = await longWork.hold(ownerOf(service, caller), true, async () => {
      const view = service.pin();
      try {
        return await judge(parts, caller, sent, view);
      } finally {
        view.close();
      }
    });
    const { command, counts, index } = judged;
    const isIdle = counts.Created + counts.Updated + counts.Deleted === 0;
    const { Skipped, Warnings } = sent;
    if (body.DryRun === true) return { Index: index, ...counts, Skipped, Warnings };
    if (isIdle) return { Index: 0, ...counts, Skipped, Warnings };
    try {
      const written = await service.write(requester, command);
      return { ...(JSON.parse(written) as ImportCounts & { Index: number }), Skipped, Warnings };
    } catch (error) {
      if (!(error instanceof ApiError) || !MOVED.has(error.refusal.code)) throw error;
      if (retries >= RETRIES_MAX)
        refuse(
          refusal('conflict', 'The state kept changing while tokens were imported: try again'),
        );
    }
  }
}

/** Refusals of apply that may come from what has changed since the import was judged. */
const MOVED: ReadonlySet<string> = new Set(['conflict', 'invalid', 'unknown_reference']);

/** A problem with the place that it has in the request. */
interface Placed {
  readonly accessor: string;
  readonly pointer: string;
  readonly code: string;
  readonly why: Refusal;
}

/** Judges an import on a view. Throws ApiError with all problems. */
async function judge(
  { service, bodyBytes }: ImportParts,
  caller: Caller,
  sent: SentImport,
  view: View,
): Promise<{
  readonly command: TokensImport;
  readonly counts: ImportCounts;
  readonly index: number;
}> {
  const { command, deleted } = sent.commandOn(view);
  refuseIf(importDenial(await service.authorize(caller), command.deletes));
  const index = stateIndex(view);
  const context = { draft: new Overlay(view), index: index + 1 };
  const tooMuch = await inSlices(budgetProblems(context.draft, sent.tokens), 'authorizer');
  const problems = [...sent.problems, ...tooMuch];
  const steps = importSteps(context, command, ({ list, position, code, why }) => {
    const place = (list === 'tokens' ? sent.tokens : deleted)[position]!;
    problems.push(place.problem(why, code));
  });
  const counts = await inSlices(steps, 'set');
  mustBeGood(problems);
  const bytes = Buffer.byteLength(JSON.stringify(command));
  if (bytes > bodyBytes)
    reject('too_large', `The import has ${bytes} bytes; the limit is ${bodyBytes}`);
  return { command, counts, index };
}

/** Throws ApiError with all problems, if there are any: a 400 before a 409. */
function mustBeGood(problems: readonly Placed[]): void {
  const first = problems.find(({ why }) => why.code !== 'conflict') ?? problems[0];
  if (first === undefined) return;
  const Problems = problems.map(({ accessor, pointer, code, why }) => ({
    Ref: refOf(TYPES.token, '', accessor),
    Code: code,
    Message: why.message,
    Pointer: pointer,
  }));
  const { pointer, why } = first;
  throw new ApiError({ ...why, pointer, members: { Problems } });
}

/** Returns the problems of tokens that link too much. */
function* budgetProblems(view: View, tokens: readonly TokenPlace[]): Steps<Placed[]> {
  const problems: Placed[] = [];
  for (const place of tokens) {
    const { ns, token } = place.imported;
    const links = { policies: token.Policies, roles: token.Roles };
    const asked = { what: 'token', pointer: '/Policies', ns, links };
    const why = yield* budgetProblem(view, asked);
    if (why !== undefined) problems.push(place.problem(why));
  }
  return problems;
}

class Place {
  readonly accessor: string;
  readonly #at: string;

  constructor(accessor: string, at: string) {
    this.accessor = accessor;
    this.#at = at;
  }

  problem(why: Refusal, code: string = why.code): Placed {
    const isDeletion = this.#at.startsWith('/Delete/');
    const pointer = `${this.#at}${isDeletion ? '' : (why.pointer ?? '')}`;
    return { accessor: this.accessor, pointer, code, why };
  }
}

class TokenPlace extends Place {
  readonly imported: ImportedToken;

  constructor(imported: ImportedToken, at: string) {
    super(imported.accessor, at);
    this.imported = imported;
  }
}

/** What an import sends, apart from the state. */
class SentImport {
  readonly problems: Placed[] = [];
  readonly tokens: TokenPlace[] = [];
  readonly Skipped: { readonly AccessorID: string; readonly Why: 'expired' }[] = [];
  readonly Warnings: { readonly AccessorID: string; readonly Code: 'weak_secret' }[] = [];
  readonly places: { readonly ns: string }[] = [];
  readonly #source: string;
  readonly #takeOver: boolean;
  readonly #nowMs: number;
  readonly #deletes: Place[] = [];
  readonly #seen = new Set<string>();

  /** Throws ApiError for what cannot be valid. */
  constructor(nowMs: number, body: ImportBody) {
    const { Source = '', TakeOver = false, Tokens = [], Delete = [] } = body;
    const count = Tokens.length + Delete.length;
    if (count > IMPORTED_MAX)
      reject('too_large', `The import has ${count} tokens; the limit is ${IMPORTED_MAX}`);
    this.#source = sourceOf(Source);
    this.#takeOver = TakeOver;
    this.#nowMs = nowMs;
  }

  /** Reads the tokens. Throws ApiError for a namespace that cannot be meant. */
  *read(
    { Tokens = [], Delete = [] }: ImportBody,
    namespaceOf: (sent?: string) => string,
  ): Steps<void> {
    for (const [i, token] of Tokens.entries()) {
      yield;
      const ns = namespaceOf(token.Namespace);
      this.places.push({ ns });
      this.#token(token, ns, `/Tokens/${i}`);
    }
    for (const [i, accessor] of Delete.entries()) {
      const place = new Place(accessor.toLowerCase(), `/Delete/${i}`);
      const why = accessorProblem(accessor) ?? this.#twice(place);
      if (why === undefined) this.#deletes.push(place);
      else this.problems.push(place.problem(why));
    }
  }

  /** Returns the command, and the places of its deletions: a token that is not there has none. */
  commandOn(view: View): { readonly command: TokensImport; readonly deleted: readonly Place[] } {
    const found = this.#deletes.flatMap((place) => {
      const ns = view.get(keys.tokenAccessor(place.accessor));
      return ns === undefined ? [] : [{ place, ns }];
    });
    const command: TokensImport = {
      type: 'tokens.import',
      v: 1,
      source: this.#source,
      takeOver: this.#takeOver,
      nowMs: this.#nowMs,
      tokens: this.tokens.map(({ imported }) => imported),
      deletes: found.map(({ ns, place: { accessor } }) => ({ ns, accessor })),
    };
    return { command, deleted: found.map(({ place }) => place) };
  }

  #twice({ accessor }: Place): Refusal | undefined {
    const isNew = !this.#seen.has(accessor);
    this.#seen.add(accessor);
    return isNew ? undefined : invalid('The request names this token twice', '/AccessorID');
  }

  #token(sent: SentToken, ns: string, at: string): void {
    const { AccessorID = '', SecretID = '', ExpirationTime } = sent;
    const imported = this.#imported(sent, ns);
    const place = new TokenPlace(imported.value, at);
    const faults = [
      accessorProblem(AccessorID) ?? this.#twice(place),
      secretProblem(SecretID),
      this.#createTimeProblem(sent),
      imported.problem,
    ].filter((why) => why !== undefined);
    this.problems.push(...faults.map((why) => place.problem(why)));
    if (faults.length > 0) return;
    const { accessor } = place;
    if (ExpirationTime !== undefined && Date.parse(ExpirationTime) <= this.#nowMs + ENDING_MS) {
      this.Skipped.push({ AccessorID: accessor, Why: 'expired' });
      return;
    }
    if (!isUuid(SecretID)) this.Warnings.push({ AccessorID: accessor, Code: 'weak_secret' });
    this.tokens.push(place);
  }

  #createTimeProblem({ CreateTime }: SentToken): Refusal | undefined {
    const isAhead = CreateTime !== undefined && Date.parse(CreateTime) > this.#nowMs + AHEAD_MS;
    return isAhead ? invalid('CreateTime is in the future', '/CreateTime') : undefined;
  }

  /** Returns a token as the command has it, without the grants that are not valid. */
  #imported(
    sent: SentToken,
    ns: string,
  ): { readonly value: ImportedToken; readonly problem?: Refusal } {
    const { AccessorID = '', SecretID = '', Description = '', Local = false, AuthMethod } = sent;
    const { ExpirationTime, Identity } = sent;
    const [grants, problem] = grantsOf(sent, { is: 'token', ns, local: Local });
    const { Policies = [], Roles = [] } = sent;
    const method = AuthMethod && { ns: sent.AuthMethodNamespace || ns, name: AuthMethod };
    const isLogin = AuthMethod !== undefined && AuthMethod !== '';
    const value: ImportedToken = {
      ns,
      accessor: AccessorID.toLowerCase(),
      secret: SecretID,
      createTime: sent.CreateTime ?? timeOf(this.#nowMs),
      token: { Description, Policies, Roles, ...grants, Local },
      ...(ExpirationTime !== undefined && { expirationTime: ExpirationTime }),
      ...(method && { method }),
      ...(isLogin && Identity?.Subject !== undefined && { subject: subjectOf(Identity.Subject) }),
    };
    return { value, ...(problem && { problem }) };
  }
}

/** Returns what a token grants itself, or why it cannot. */
function grantsOf(
  ...[sent, holder]: Parameters<typeof normaliseGrants>
): readonly [grants: ReturnType<typeof normaliseGrants>, problem?: Refusal] {
  try {
    return [normaliseGrants(sent, holder)];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [{}, error.refusal];
  }
}

const invalid = (message: string, pointer: string): Refusal =>
  refusal('invalid', message, { pointer });

function accessorProblem(id: string): Refusal | undefined {
  if (!isUuid(id)) return invalid('AccessorID is not a valid UUID', '/AccessorID');
  const why = 'AccessorID is reserved for a built-in token';
  return isReservedId(id) ? invalid(why, '/AccessorID') : undefined;
}

/** No message contains the secret. */
function secretProblem(secret: string): Refusal | undefined {
  const form = 'SecretID must be 1 to 256 printable ASCII characters without spaces';
  if (!SECRET.test(secret)) return invalid(form, '/SecretID');
  if (!NO_SECRETS.includes(secret)) return undefined;
  return invalid('SecretID is a reserved word', '/SecretID');
}

/** How sources are called. */
export const SOURCE_FORM = '1 to 120 letters, digits and the characters . _ / -';

/**
 * Returns the name of a source. Throws ApiError 400, by default in the words for the member of a
 * body.
 */
export function sourceOf(
  source: string,
  why = `Source must be ${SOURCE_FORM}`,
  more: { readonly pointer?: string } = { pointer: '/Source' },
): string {
  return SOURCE.test(source) ? source : reject('invalid', why, more);
}
