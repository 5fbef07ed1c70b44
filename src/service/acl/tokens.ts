/** Use cases of tokens, and those that write them. Their reads are in token-reads.ts. */
import { randomUUID } from 'node:crypto';
import { isReservedId } from '../../acl/builtin.js';
import { isUuid } from '../../acl/names.js';
import { reject } from '../../base/errors.js';
import { formatDuration } from '../../languages/duration.js';
import { bodyOf, type Sent } from '../../languages/fields.js';
import { timeOf } from '../../languages/times.js';
import type {
  TokenClone,
  TokenCreate,
  TokenDelete,
  TokenUpdate,
} from '../../state/token-commands.js';
import type { TokenInput } from '../../state/token-content.js';
import { secretKeyOf, type Token, tokenByAccessor, tokens } from '../../state/tokens.js';
import { Links, NO_UUID } from '../common/reading.js';
import type { Service } from '../common/types.js';
import { maySomewhere, mayWrite, type Write } from '../common/writing.js';
import { normaliseGrants } from '../rights/grants.js';
import { mustFitBudget } from '../rights/policy-budget.js';
import { readTokenExpanded } from './expanded-token.js';
import type { ObjectParts, ObjectUseCases } from './objects.js';
import { listTokens, readToken, tokenShown } from './token-reads.js';

export const TOKEN_BODY = bodyOf(tokens.fields);
type TokenBody = Sent<typeof tokens.fields>;

/** Returns the use cases of tokens except clone, the caller's own token and bootstrap. */
export function tokenUseCases(parts: ObjectParts): ObjectUseCases<TokenBody> {
  const { service, nowMs } = parts;
  return {
    definition: tokens,
    body: TOKEN_BODY,
    admit: (write) => maySomewhere(service, write, 'acl', 'write'),
    list: (ns, query) => listTokens(ns, query, nowMs),
    read: (ns, accessor, expanded = false) =>
      expanded ? readTokenExpanded(ns, accessor, parts, nowMs) : readToken(ns, accessor, nowMs),
    write: (write, accessor, body) =>
      accessor === undefined
        ? createToken(service, write, body, nowMs())
        : updateToken(service, write, accessor, { body, nowMs: nowMs() }),
    remove: (write, accessor) => deleteToken(service, write, accessor),
  };
}

/** Shortest life of a token, in milliseconds. A shorter one is usually a mistake. */
const LIFE_MIN_MS = 60_000;
const NANOSECONDS = 1e6;

async function createToken(
  service: Service,
  write: Write,
  body: TokenBody,
  nowMs: number,
): Promise<string> {
  await mayWrite(service, write);
  const accessor = ownId(body.AccessorID, 'AccessorID')?.toLowerCase() ?? randomUUID();
  const secret = ownId(body.SecretID, 'SecretID') ?? randomUUID();
  if ((body.AuthMethod ?? '') !== '') {
    const why = 'AuthMethod field is disallowed outside of login';
    reject('invalid', why, { pointer: '/AuthMethod' });
  }
  const expirationTime = expirationOf(body, nowMs);
  const { ns } = write;
  await mustFitBudget(service.view, { ...TOKEN_BUDGET, ns, links: linksOf(body) });
  const command: TokenCreate = {
    type: 'token.create',
    v: 1,
    ns: write.ns,
    accessor,
    secret,
    createTime: timeOf(nowMs),
    token: contentOf(body, write.ns),
    ...(expirationTime === undefined ? {} : { expirationTime }),
  };
  return shown(service, await service.write(write, command));
}

/** Replaces a token's content. Returns it as it is answered. */
async function updateToken(
  service: Service,
  write: Write,
  accessor: string,
  { body, nowMs }: { readonly body: TokenBody; readonly nowMs: number },
): Promise<string> {
  const sent = body.AccessorID ?? '';
  if (sent !== '' && sent.toLowerCase() !== accessor.toLowerCase()) {
    const why = 'Token Accessor ID in URL and payload do not match';
    reject('invalid', why, { pointer: '/AccessorID' });
  }
  await mayWrite(service, write);
  const { view } = service;
  const { ns } = write;
  const stored = tokenByAccessor(view, accessor.toLowerCase());
  const before = stored && linksOf(stored);
  await mustFitBudget(view, {
    ...TOKEN_BUDGET,
    ns,
    links: linksOf(body),
    ...(before && { before }),
  });
  const command: TokenUpdate = {
    type: 'token.update',
    v: 1,
    ns: write.ns,
    accessor: mustBeAccessor(accessor),
    nowMs,
    token: contentOf(body, write.ns),
    ...(body.SecretID ? { secretKey: secretKeyOf(body.SecretID) } : {}),
    ...(body.AuthMethod ? { authMethod: body.AuthMethod } : {}),
    ...(body.ExpirationTime === undefined ? {} : { expirationTime: body.ExpirationTime }),
    ...(body.ExpirationTTL ? { expirationTtl: true } : {}),
  };
  return shown(service, await service.write(write, command));
}

/** Copies a token under new ids. Returns the copy. Only the description of the body counts. */
export async function cloneToken(
  service: Service,
  write: Write,
  accessor: string,
  { body, nowMs }: { readonly body: TokenBody; readonly nowMs: number },
): Promise<string> {
  await mayWrite(service, write);
  const command: TokenClone = {
    type: 'token.clone',
    v: 1,
    ns: write.ns,
    source: mustBeAccessor(accessor),
    accessor: randomUUID(),
    secret: randomUUID(),
    createTime: timeOf(nowMs),
    nowMs,
    ...(body.Description ? { description: body.Description } : {}),
  };
  return shown(service, await service.write(write, command));
}

/** Deletes a token. Returns `true` or `false`. */
async function deleteToken(service: Service, write: Write, accessor: string): Promise<string> {
  await mayWrite(service, write);
  const command: TokenDelete = {
    type: 'token.delete',
    v: 1,
    ns: write.ns,
    accessor: mustBeAccessor(accessor, 'Token ID is missing or an invalid UUID'),
    callerKey: write.caller.tokenKey,
  };
  return service.write(write, command);
}

/** Returns a written token as it is answered, with its secret: its writer may see it. */
export const shown = (service: Service, text: string): string =>
  JSON.stringify(tokenShown(JSON.parse(text) as Token, new Links(service.view), true));

function contentOf(body: TokenBody, ns: string): TokenInput {
  const local = body.Local ?? false;
  return {
    Description: body.Description ?? '',
    Policies: body.Policies ?? [],
    Roles: body.Roles ?? [],
    ...normaliseGrants(body, { is: 'token', ns, local }),
    Local: local,
  };
}

const TOKEN_BUDGET = { what: 'token', pointer: '/Policies' } as const;

const linksOf = ({ Policies, Roles }: Pick<TokenBody, 'Policies' | 'Roles'>) => ({
  policies: Policies,
  roles: Roles,
});

function mustBeAccessor(id: string, why = 'AccessorID is not a valid UUID'): string {
  return isUuid(id) ? id.toLowerCase() : reject('invalid', why, NO_UUID);
}

/** Checks an id that the client chose. Throws ApiError. */
function ownId(id: string | undefined, field: 'AccessorID' | 'SecretID'): string | undefined {
  if (id === undefined || id === '') return undefined;
  const pointer = `/${field}`;
  if (!isUuid(id)) reject('invalid', `Invalid Token: ${field} - not a valid UUID`, { pointer });
  if (isReservedId(id)) {
    const why = `Invalid Token: ${field} - UUIDs with the prefix 00000000-0000-0000-0000-0000000000 are reserved`;
    reject('invalid', why, { pointer });
  }
  return id;
}

/** Returns when a new token expires, by time or time to live; undefined for never. */
function expirationOf(body: TokenBody, nowMs: number): string | undefined {
  const { ExpirationTime, ExpirationTTL = 0 } = body;
  if (ExpirationTTL !== 0 && ExpirationTime !== undefined) {
    const why = 'Token Expiration TTL and Expiration Time cannot both be set';
    reject('invalid', why, { pointer: '/ExpirationTTL' });
  }
  if (ExpirationTTL < 0) {
    const why = `Token Expiration TTL '${formatDuration(ExpirationTTL)}' should be > 0`;
    reject('invalid', why, { pointer: '/ExpirationTTL' });
  }
  if (ExpirationTime === undefined && ExpirationTTL === 0) return undefined;
  const atMs =
    ExpirationTime === undefined ? nowMs + ExpirationTTL / NANOSECONDS : Date.parse(ExpirationTime);
  const pointer = ExpirationTime === undefined ? '/ExpirationTTL' : '/ExpirationTime';
  if (atMs < nowMs) reject('invalid', 'ExpirationTime cannot be before CreateTime', { pointer });
  if (atMs - nowMs < LIFE_MIN_MS) {
    const was = formatDuration(Math.round(atMs - nowMs) * NANOSECONDS);
    const why = `ExpirationTime cannot be less than 1m0s in the future (was ${was})`;
    reject('invalid', why, { pointer });
  }
  if (atMs > LATEST_MS) {
    reject('invalid', 'ExpirationTime cannot be after the year 9999', { pointer });
  }
  return ExpirationTime ?? timeOf(Math.floor(atMs));
}

const LATEST_MS = Date.parse('9999-12-31T23:59:59Z');
