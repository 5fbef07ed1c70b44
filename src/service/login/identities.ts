/** Use cases that revoke and block the identities of an auth method (beyond.md 7.2). */
import { randomUUID } from 'node:crypto';
import { least, type Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { BlockRow, RevokeBody, Revoked } from '../../api/endpoints/identities.js';
import { type Refusal, refusal, refuse, refuseIf, reject } from '../../base/errors.js';
import { compare } from '../../base/text.js';
import { parseDuration } from '../../languages/duration.js';
import { timeOf } from '../../languages/times.js';
import {
  blockKey,
  concerns,
  IDENTITY_BLOCK,
  type IdentityBlock,
  isOver,
  type MethodPlace,
  type Whom,
} from '../../state/identity-blocks.js';
import type { IdentityRevoke, IdentityUnblock } from '../../state/identity-commands.js';
import { keys } from '../../state/keys.js';
import { keysBelow, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { isSubject } from '../../state/stamp.js';
import { isAlive, loggedIn, type Token } from '../../state/tokens.js';
import type { PinnedView, View } from '../../state/types.js';
import { listedNamespaces, listPosition, mustBeUuid, stateIndex } from '../common/reading.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';
import { reasoned } from '../common/writing.js';
import { mustBeKept } from '../history/places.js';
import { type LongWork, ownerOf } from '../reads/long-work.js';
import { subjectOf } from './claims.js';

/** What these use cases need of a node. */
export interface IdentityParts {
  readonly service: Service;
  readonly longWork: LongWork;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** Tokens that an answer shows. */
const SHOWN_MAX = 100;
const MINUTE_MS = 60_000;
/** The longest block that ends by itself, in milliseconds: a year. */
const BLOCK_MAX_MS = 8760 * 60 * MINUTE_MS;
const BLOCK_FORMS = 'a duration from 1m to 8760h, or "forever"';

/** Ends every token of an identity, or shows which they are. Throws ApiError. */
export async function revokeIdentities(
  parts: IdentityParts,
  requester: Requester,
  place: MethodPlace,
  body: RevokeBody,
): Promise<Revoked> {
  const { service } = parts;
  const { DryRun = true, BlockFor, Reason } = body;
  const access = DryRun ? 'read' : 'write';
  // Before the check: no leader authorises a dry run again.
  await service.catchUp(requester.timeoutMs);
  await service.permit(requester, (authorizer) =>
    authorizer.denial('acl', access, undefined, place.ns),
  );
  const whom = whomIn(body);
  const nowMs = parts.nowMs();
  const until = BlockFor === undefined ? undefined : untilOf(BlockFor, nowMs);
  const writer = reasoned(requester, Reason);
  mustBeKept(service.view);
  const method = methodAt(service.view, place);
  const found = await parts.longWork.runSoon(
    ownerOf(service, requester.caller),
    'explain',
    tokensOf(service.pin(), { ns: place.ns, name: method.Name }, whom, nowMs),
  );
  const { index, ...shown } = found;
  const answer = { DryRun, ...shown, More: found.Total - found.Tokens.length };
  if (DryRun) return { ...answer, BlockID: '', Index: index };
  if (found.Total === 0 && until === undefined) return { ...answer, BlockID: '', Index: 0 };
  const command: IdentityRevoke = {
    type: 'identity.revoke',
    v: 1,
    ns: place.ns,
    name: method.Name,
    whom,
    count: found.Total,
    ...(until !== undefined && { block: { id: randomUUID(), until } }),
  };
  const written = await service.write(writer, command);
  return { ...answer, ...(JSON.parse(written) as { BlockID: string; Index: number }) };
}

function methodAt(view: View, { ns, name }: MethodPlace): AuthMethod {
  const method = stored<AuthMethod>(view, keys.method(ns, name));
  if (method === undefined) {
    const why = `Auth method ${JSON.stringify(name.slice(0, 128))} does not exist`;
    reject('not_found', why, { pointer: '/AuthMethod' });
  }
  return method;
}

/** Returns whom a body names. Throws ApiError 400. */
function whomIn({ Subject, SubjectPrefix }: RevokeBody): Whom {
  if ((Subject === undefined) === (SubjectPrefix === undefined))
    reject('invalid', 'Exactly one of Subject and SubjectPrefix is required');
  if (SubjectPrefix !== undefined) {
    if (isSubject(SubjectPrefix)) return { SubjectPrefix };
    const why = 'SubjectPrefix is too long or has control characters';
    return reject('invalid', why, { pointer: '/SubjectPrefix' });
  }
  if (Subject === '') {
    reject('invalid', 'Subject is empty', {
      pointer: '/Subject',
      hint: 'an empty SubjectPrefix means every identity of the auth method',
    });
  }
  return { Subject: subjectOf(Subject!) };
}

/** Returns when a block ends that begins now; null for never. Throws ApiError 400. */
function untilOf(text: string, nowMs: number): string | null {
  if (text === 'forever') return null;
  const pointer = '/BlockFor';
  const parsed = parseDuration(text);
  if (!parsed.ok) reject('invalid', `BlockFor: ${parsed.message}`, { pointer });
  const ms = parsed.nanoseconds / 1e6;
  if (ms < MINUTE_MS || ms > BLOCK_MAX_MS)
    reject('invalid', `BlockFor must be ${BLOCK_FORMS}`, { pointer });
  return timeOf(nowMs + ms);
}

type Found = Pick<Revoked, 'Total' | 'Tokens' | 'Unknown'> & { readonly index: number };

/** Finds the live tokens of a method that it is about, the newest first. Closes the view. */
function* tokensOf(view: PinnedView, method: MethodPlace, whom: Whom, nowMs: number): Steps<Found> {
  try {
    let unknown = 0;
    const matches: { readonly key: string; readonly index: number; readonly subject: string }[] =
      [];
    for (const key of keysBelow(view, 'token-by-method', method.ns, method.name.toLowerCase())) {
      yield;
      const { subject } = loggedIn(view.get(key)!);
      if (subject !== undefined && !concerns(whom, subject)) continue;
      const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
      const own = keys.token(ns, accessor);
      const token = stored<Token>(view, own);
      // It may be lost: a recovery accepts that.
      if (token === undefined || !isAlive(view, token, nowMs)) continue;
      if (subject === undefined) unknown += 1;
      else matches.push({ key: own, index: token.CreateIndex, subject });
    }
    const newest = yield* least(matches, SHOWN_MAX, (a, b) => b.index - a.index);
    const Tokens = newest.map(({ key, subject }) => {
      const { AccessorID, Description, Namespace, CreateTime } = stored<Token>(view, key)!;
      return { AccessorID, Description, Namespace, Subject: subject, CreateTime };
    });
    const Total = matches.length;
    return { Total, Tokens, ...(unknown > 0 && { Unknown: unknown }), index: stateIndex(view) };
  } finally {
    view.close();
  }
}

/** Lists the blocks of a namespace (`*`: of all), or of one method. */
export const listBlocks =
  (ns: string, method: string | undefined, nowMs: () => number): ReadUseCase<readonly BlockRow[]> =>
  ({ view, authorizer }) => {
    const places = listedNamespaces(view, authorizer, ns);
    mustBeKept(view);
    const wanted = method?.toLowerCase();
    const at = nowMs();
    const value = places.shown
      .flatMap((each) => [...keysBelow(view, IDENTITY_BLOCK, each)])
      .flatMap((key) => {
        const block = blockIn(view, key);
        if (block === undefined || isOver(block.block, at)) return [];
        return wanted === undefined || wanted === block.name ? [rowOf(view, block)] : [];
      })
      .sort(byPlace);
    return { value, filtered: places.filtered, ...listPosition(view, IDENTITY_BLOCK, places) };
  };

interface BlockAt extends MethodPlace {
  readonly block: IdentityBlock;
}

/** Returns the block under a key; undefined for another record. */
function blockIn(view: View, key: string): BlockAt | undefined {
  const [, ns = '', name = '', kind] = key.split('\u0000');
  if (kind !== 'subject' && kind !== 'prefix') return undefined;
  return { ns, name, block: stored<IdentityBlock>(view, key)! };
}

function rowOf(view: View, { ns, name, block }: BlockAt): BlockRow {
  const { ID, Subject, SubjectPrefix, Until, Author, Time, Reason, ModifyIndex } = block;
  const { Name = name } = stored<Partial<AuthMethod>>(view, keys.method(ns, name)) ?? {};
  const whom = Subject === undefined ? { SubjectPrefix } : { Subject };
  const when = { Until, Author, Time, Reason, ModifyIndex };
  return { ID, AuthMethod: Name, Namespace: ns, ...whom, ...when } as BlockRow;
}

const byPlace = (a: BlockRow, b: BlockRow): number =>
  compare(a.Namespace, b.Namespace) ||
  compare(a.AuthMethod, b.AuthMethod) ||
  compare(a.Subject ?? a.SubjectPrefix ?? '', b.Subject ?? b.SubjectPrefix ?? '') ||
  compare(a.ID, b.ID);

/** Lifts a block. Throws ApiError. */
export async function unblock(service: Service, requester: Requester, id: string): Promise<string> {
  const wanted = mustBeUuid(id, 'identity block ID');
  await service.permit(requester, (authorizer) =>
    authorizer.anywhere('acl', 'write') ? undefined : authorizer.denial('acl', 'write'),
  );
  await service.catchUp(requester.timeoutMs);
  const authorizer = await service.authorize(requester.caller);
  const found = findBlock(service.view, wanted);
  if (found === undefined) refuse(NO_BLOCK);
  refuseIf(liftDenial(authorizer, found.ns));
  const { block, ...place } = found;
  const whom: Whom =
    block.Subject === undefined
      ? { SubjectPrefix: block.SubjectPrefix }
      : { Subject: block.Subject };
  const command: IdentityUnblock = { type: 'identity.unblock', v: 1, ...place, whom, id: wanted };
  return service.write(requester, command);
}

const NO_BLOCK = refusal('not_found', 'The block does not exist');

/** Whoever may not read in the namespace does not learn that the block exists. */
const liftDenial = (authorizer: Authorizer, ns: string): Refusal | undefined => {
  const denied = authorizer.denial('acl', 'write', undefined, ns);
  const mayRead = authorizer.allowed('acl', 'read', undefined, ns);
  return denied === undefined || mayRead ? denied : NO_BLOCK;
};

function findBlock(view: View, id: string): BlockAt | undefined {
  for (const key of keysBelow(view, IDENTITY_BLOCK)) {
    if (!key.endsWith(`\u0000${id}`)) continue;
    const found = blockIn(view, key);
    if (found !== undefined && blockKey(found, found.block, id) === key) return found;
  }
  return undefined;
}
