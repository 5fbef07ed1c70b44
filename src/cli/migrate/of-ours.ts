/**
 * What only a cluster of ours has beside its objects: the ACL configuration, and whose logins are
 * refused (moving-in.md 9).
 */
import type { BlockRow, Revoked } from '../../api/endpoints/identities.js';
import { jsonOf, refusedWith } from '../../migrate/source/asking.js';
import type { Converted, MovedItem, SourceState } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { isMissing } from '../print/error.js';
import { type Marks, ownerOf, wasRead } from './objects.js';
import type { Way } from './source-connection.js';

const CONFIGURATION = 'operator/acl/configuration';
const BLOCKS = 'acl/identity-blocks';
/** What is listened to, as a key of indexes, and whether it is polled because it holds no query. */
export const HEARD_OF_OURS: readonly (readonly [key: string, isPolled: boolean])[] = [
  ['acl/identity-blocks?ns=*', false],
  ['operator/acl/configuration', true],
];
/** A block that ends sooner is not made: the target takes none. */
const SHORTEST_MS = 60_000;
/** The ends of equal blocks may differ so much: they are made with a duration. */
const CLOSE_MS = 30_000;

type Body = Readonly<Record<string, unknown>>;

/** What is to be written. */
export interface PlannedOurs {
  /** Absent: it is equal. */
  readonly configuration?: { readonly body: Body; readonly index: string };
  readonly made: readonly BlockRow[];
  readonly lifted: readonly BlockRow[];
  /** How many blocks the source has. */
  readonly blocks: number;
}

/** How many entries are to be written. */
export const entriesOf = (planned: PlannedOurs | undefined): number =>
  planned === undefined
    ? 0
    : planned.made.length + planned.lifted.length + Number(planned.configuration !== undefined);

/**
 * Compares both sides. Blocks move with their auth method. One is lifted where the source shows
 * that it has gone: not because it is not moved, or ends too soon to be made.
 */
export async function planOurs(
  { api }: Pick<Call<object>, 'api'>,
  source: Way,
  { owner }: Pick<Marks, 'owner'>,
  { state, converted }: { readonly state: SourceState; readonly converted: Converted },
): Promise<PlannedOurs> {
  const plain = { isCurrent: true, isPlain: true };
  const ns = { ns: '*' };
  const moved = new Set(converted.parts.flatMap(({ items }) => items.map(methodOf)));
  const shown = await shownBy<BlockRow[]>(source, BLOCKS, ns);
  const isMade = ({ AuthMethod: Name, Namespace, Until }: BlockRow): boolean =>
    moved.has(methodOf({ Type: 'auth-method', Namespace, Object: { Name } })) &&
    (Until === null || endOf(Until) > Date.now() + SHORTEST_MS);
  const there = shown?.filter(isMade) ?? [];
  const isGone = (one: BlockRow): boolean =>
    shown !== undefined &&
    wasRead(state, 'auth-method', { ns: one.Namespace }) &&
    // One that is not made here leaves in place what it replaces.
    !shown.some((other) => isSame(one, other) || (isOfSame(one, other) && !isMade(other)));
  const here = (await api.get(`/v1/${BLOCKS}`, { query: ns, ...plain })).json<BlockRow[]>();
  const wanted = await shownBy<Body>(source, CONFIGURATION);
  const held = (await api.get(`/v1/${CONFIGURATION}`, { isPlain: true })).json<Body>();
  const body = contentOf(wanted ?? held);
  const isEqual = JSON.stringify(body) === JSON.stringify(contentOf(held));
  const index = String(held['ModifyIndex'] ?? 0);
  return {
    ...(!isEqual && { configuration: { body, index } }),
    made: there.filter((one) => !here.some((other) => isSame(one, other))),
    lifted: here.filter((one) => ownerOf(one.Reason) === owner && isGone(one)),
    blocks: there.length,
  };
}

/** Writes what is planned. What takes rights is first. Calls `onEntry` after each entry. */
export async function writeOurs(
  { api }: Call<object>,
  { owner }: Marks,
  { configuration, made, lifted }: PlannedOurs,
  onEntry: (index: number) => void,
): Promise<void> {
  for (const { AuthMethod, Namespace, Subject, SubjectPrefix, Until, Reason } of made) {
    const who = Subject === undefined ? { SubjectPrefix } : { Subject };
    const leftMs = Until === null ? undefined : endOf(Until) - Date.now();
    const BlockFor = leftMs === undefined ? 'forever' : `${Math.ceil(leftMs / 1000)}s`;
    const words = { DryRun: false, BlockFor, Reason: `${owner}: ${Reason}` };
    const body = { AuthMethod, Namespace, ...who, ...words };
    const answer = await api.ask('POST', '/v1/acl/tokens/revoke', { body, isPlain: true });
    onEntry(answer.json<Revoked>().Index);
  }
  for (const { ID, Namespace: ns } of lifted) {
    try {
      await api.ask('DELETE', `/v1/acl/identity-block/${ID}`, { query: { ns }, isPlain: true });
      onEntry(0);
    } catch (error) {
      // It has gone with its auth method.
      if (!isMissing(error)) throw error;
    }
  }
  if (configuration === undefined) return;
  const { body, index } = configuration;
  const headers = { 'If-Match': `"${index}"` };
  await api.ask('PUT', `/v1/${CONFIGURATION}`, { headers, body, isPlain: true });
  onEntry(0);
}

/** Returns what a source shows; undefined if its release does not have it. */
async function shownBy<T>(
  source: Way,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<T | undefined> {
  const answer = await source.asking.get(path, query);
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw refusedWith(path, answer);
  return jsonOf<T>(path, answer);
}

const methodOf = ({ Type, Namespace, Object: { Name } }: MovedItem): string =>
  JSON.stringify([Type, Namespace, String(Name).toLowerCase()]);

const contentOf = ({ CreateIndex: _created, ModifyIndex: _modified, ...rest }: Body): Body => rest;

const endOf = (time: string): number => Date.parse(time);

/** Whether two blocks refuse the same logins. */
function isOfSame(one: BlockRow, other: BlockRow): boolean {
  const key = ({ AuthMethod, Namespace, Subject, SubjectPrefix }: BlockRow): string =>
    JSON.stringify([AuthMethod.toLowerCase(), Namespace, Subject ?? null, SubjectPrefix ?? null]);
  return key(one) === key(other);
}

/** Whether two blocks refuse the same logins until the same time. */
function isSame(one: BlockRow, other: BlockRow): boolean {
  if (!isOfSame(one, other)) return false;
  if (one.Until === null || other.Until === null) return one.Until === other.Until;
  return Math.abs(endOf(one.Until) - endOf(other.Until)) < CLOSE_MS;
}
