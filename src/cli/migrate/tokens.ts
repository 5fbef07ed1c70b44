/** The tokens of a migration: compared with those of the target, and imported. */

import type { Imported, Imports } from '../../api/endpoints/imports.js';
import type { Problem } from '../../api/migration-report.js';
import { GRANTS } from '../../migrate/source/acl-objects.js';
import { listIn } from '../../migrate/source/conversion.js';
import type { Shown, SourceState, TokenImport } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { CliError } from '../print/error.js';
import { changedBy, type Marks, wasRead } from './objects.js';

/** Tokens of one import. */
const IMPORTED_MAX = 500;
/** Bytes of one import: half of the default of `limits.bodyBytes`. */
const IMPORT_BYTES = 512 * 1024;

/** What becomes of tokens. */
export interface PlannedTokens {
  readonly same: number;
  readonly created: readonly TokenImport[];
  readonly updated: readonly TokenImport[];
  /** Tokens that lose something, with what they keep of what they have here. */
  readonly narrowed: readonly TokenImport[];
  readonly deleted: readonly string[];
  readonly problems: readonly Problem[];
  /** Whether the target has compared the secrets. */
  readonly areSecretsCompared: boolean;
}

/** Compares tokens with those of the target. */
export async function planTokens(
  call: Call<object>,
  marks: Marks,
  source: SourceState,
  given: readonly TokenImport[],
): Promise<PlannedTokens> {
  const { api } = call;
  const here = await tokensHere(call);
  const imports = given.map((token) => endingAsHere(token, here.get(token.AccessorID)));
  const own = await ownTokens(call, marks);
  const isOwn = new Set(own.map(({ AccessorID }) => AccessorID));
  const there = accessorsOf(source);
  const held = marks.held.tokens;
  for (const accessor of isOwn) if (here.has(accessor)) held.add(accessor);
  for (const accessor of held) if (!there.has(accessor)) held.delete(accessor);
  const probe = await probed(call, marks, imports, here);
  const bad = new Map(probe.problems.map((one) => [one.Ref, one]));
  const created: TokenImport[] = [];
  const updated: TokenImport[] = [];
  const narrowed: TokenImport[] = [];
  const deleted: string[] = [];
  const problems: Problem[] = [];
  let same = 0;
  for (const token of imports) {
    const { AccessorID } = token;
    const before = here.get(AccessorID);
    const isEqual = before !== undefined && contentOf(token, before) === contentOf(before, before);
    const problem = bad.get(`token/${AccessorID}`);
    // A token of others with this secret, content and end is what is wanted.
    const isWanted = isEqual && before['ExpirationTime'] === token['ExpirationTime'];
    if (problem !== undefined && !(isWanted && problem.Code === 'owned')) {
      problems.push(problem);
      continue;
    }
    if (isEqual && (isOwn.has(AccessorID) || problem !== undefined)) {
      same += 1;
      continue;
    }
    const isKnown = before === undefined ? held.has(AccessorID) : isOwn.has(AccessorID);
    const touched = isKnown ? await touchedHere(api, marks, token, before) : undefined;
    if (touched !== undefined) problems.push(touched);
    else if (before === undefined) created.push(token);
    else {
      updated.push(token);
      const kept = keptOf(token, before);
      if (kept !== undefined) narrowed.push(kept);
    }
  }
  for (const token of goneTokens(source, own)) {
    const before = here.get(token.AccessorID);
    const touched = isAsMade(before) ? undefined : await touchedHere(api, marks, token, before);
    if (touched !== undefined) problems.push(touched);
    else deleted.push(token.AccessorID);
  }
  const { areSecretsCompared } = probe;
  return { same, created, updated, narrowed, deleted, problems, areSecretsCompared };
}

/** Returns the tokens that were imported from the source. */
export async function ownTokens(
  { api }: Call<object>,
  { owner }: Marks,
): Promise<Imports['Tokens']> {
  const query = { source: owner.replace('migrate/', '') };
  const plain = { query, isCurrent: true, isPlain: true };
  return (await api.get('/v1/acl/tokens/import', plain)).json<Imports>().Tokens;
}

const accessorsOf = ({ tokens }: SourceState): ReadonlySet<string> =>
  new Set(tokens.map((one) => String(one['AccessorID']).toLowerCase()));

/** Returns the tokens that the source has no longer, of what was read whole. */
function goneTokens(source: SourceState, own: Imports['Tokens']): Imports['Tokens'] {
  const there = accessorsOf(source);
  return own.filter(
    ({ AccessorID, Namespace }) =>
      !there.has(AccessorID) && wasRead(source, 'token', { ns: Namespace }),
  );
}

/** Whether nobody has changed a token since the migration made it, or it is over. */
const isAsMade = (here: Shown | undefined): boolean =>
  here === undefined || here['CreateIndex'] === here['ModifyIndex'];

/** Returns what others did to a token of the migration, which is then left as it is. */
async function touchedHere(
  api: Call<object>['api'],
  { reason, force }: Marks,
  { AccessorID, Namespace: ns }: Pick<TokenImport, 'AccessorID' | 'Namespace'>,
  here: Shown | undefined,
): Promise<Problem | undefined> {
  if (force) return undefined;
  const isGone = here === undefined;
  const known = await changedBy(api, `token/${AccessorID}`, { ns, reason });
  // The history of one token does not tell how a login ended.
  const who = known ?? (isGone ? 'somebody' : undefined);
  if (who === undefined) return undefined;
  const Message = `it was ${isGone ? 'deleted' : 'changed'} here by ${who}: see --force`;
  return { Ref: `token/${AccessorID}`, Code: 'changed', Message };
}

/** A source takes the time that is left, and so an end that is some seconds off. */
const CLOSE_MS = 5000;

/** Returns a token with the end that it has here, if that is the same but for those seconds. */
function endingAsHere(token: TokenImport, here: Shown | undefined): TokenImport {
  const { ExpirationTime } = here ?? {};
  const offMs = Date.parse(String(token['ExpirationTime'])) - Date.parse(String(ExpirationTime));
  return Math.abs(offMs) < CLOSE_MS ? { ...token, ExpirationTime } : token;
}

async function tokensHere({ api }: Call<object>): Promise<ReadonlyMap<string, Shown>> {
  const query = { ns: '*' };
  const answer = await api.get('/v1/acl/tokens', { query, isCurrent: true, isPlain: true });
  return new Map(answer.json<Shown[]>().map((one) => [String(one['AccessorID']), one]));
}

/** Returns an item of a token's list as text. Links have an ID, or a name that `here` knows. */
function itemText(member: string, item: Shown, here: Shown): string {
  if (member === 'Policies' || member === 'Roles') {
    const { ID, Name } = item as { readonly ID?: string; readonly Name?: string };
    const known = listIn(here, member).find((one) => one['Name'] === Name);
    return String(ID ?? known?.['ID'] ?? `name ${Name}`).toLowerCase();
  }
  const { TemplateID: _id, Datacenters, ...rest } = item;
  const datacenters = Array.isArray(Datacenters) ? [...(Datacenters as string[])].sort() : [];
  const entries = Object.entries({ ...rest, datacenters }).filter(([, value]) => value !== null);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1))).toLowerCase();
}

const textsOf = (one: Shown, member: string, here: Shown): readonly string[] => [
  ...new Set(listIn(one, member).map((item) => itemText(member, item, here))),
];

/** Returns what an import replaces of a token, as text. */
const contentOf = (one: Shown, here: Shown): string =>
  JSON.stringify([
    one['Description'] ?? '',
    ...GRANTS.map((member) => [...textsOf(one, member, here)].sort()),
  ]);

/** Returns a token with what it has and keeps; undefined if it loses nothing. */
function keptOf(token: TokenImport, before: Shown): TokenImport | undefined {
  let loses = false;
  const kept = GRANTS.map((member): [string, readonly Shown[]] => {
    const wanted = textsOf(token, member, before);
    const has = listIn(before, member);
    const stays = has.filter((item) => wanted.includes(itemText(member, item, before)));
    loses ||= stays.length < has.length;
    return [member, stays];
  });
  return loses ? { ...token, ...Object.fromEntries(kept) } : undefined;
}

/**
 * Asks the target whether it would take IDs and secrets. Links and methods are left out, because
 * the objects that they name may not be there yet.
 */
async function probed(
  call: Call<object>,
  marks: Marks,
  imports: readonly TokenImport[],
  here: ReadonlyMap<string, Shown>,
): Promise<Pick<PlannedTokens, 'problems' | 'areSecretsCompared'>> {
  const problems: Problem[] = [];
  const asked = imports.map((token): TokenImport => {
    const { AccessorID, SecretID, ExpirationTime } = token;
    const before = here.get(AccessorID);
    const ends = ExpirationTime === undefined ? {} : { ExpirationTime };
    if (before === undefined) return { AccessorID, SecretID, ...ends, Namespace: 'default' };
    const { Namespace, AuthMethod, AuthMethodNamespace, Local } = token;
    const login = AuthMethod === undefined ? {} : { AuthMethod, AuthMethodNamespace };
    return { AccessorID, SecretID, Namespace, Local, ...login, ...ends };
  });
  for (const Tokens of batchesOf(asked)) {
    try {
      await importBatch(call, marks, { Tokens, DryRun: true });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const { code, problem = {} } = error.details;
      if (code === 'permission_denied') return { problems, areSecretsCompared: false };
      const found = (problem as { Problems?: readonly Problem[] }).Problems;
      if (found === undefined) throw error;
      problems.push(...found.map(({ Ref, Code, Message }) => ({ Ref, Code, Message })));
    }
  }
  return { problems, areSecretsCompared: true };
}

/** Returns tokens in lists of which one import takes each. */
export function batchesOf(tokens: readonly TokenImport[]): TokenImport[][] {
  const batches: TokenImport[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const token of tokens) {
    const size = Buffer.byteLength(JSON.stringify(token)) + 1;
    if (bytes + size > IMPORT_BYTES || batches.at(-1)!.length >= IMPORTED_MAX) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(token);
    bytes += size;
  }
  return batches;
}

/** Sends one import. */
export async function importBatch(
  { api }: Call<object>,
  marks: Marks,
  body: { readonly Tokens?: readonly TokenImport[]; readonly Delete?: readonly string[] } & {
    readonly DryRun?: boolean;
  },
): Promise<Imported> {
  const { owner, reason: Reason, force } = marks;
  const Source = owner.replace('migrate/', '');
  const all = { Source, Reason, ...(force && { TakeOver: true }), ...body };
  const isRead = body.DryRun === true;
  const answer = await api.ask('POST', '/v1/acl/tokens/import', {
    body: all,
    isRead,
    isPlain: true,
  });
  const imported = answer.json<Imported>();
  if (isRead) return imported;
  const isSkipped = new Set(imported.Skipped.map((one) => one.AccessorID));
  for (const { AccessorID } of body.Tokens ?? [])
    if (!isSkipped.has(AccessorID)) marks.held.tokens.add(AccessorID);
  return imported;
}

/** Returns accessors in lists of which one import takes each. */
export const deletionsOf = (accessors: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(accessors.length / IMPORTED_MAX) }, (_, at) =>
    accessors.slice(at * IMPORTED_MAX, (at + 1) * IMPORTED_MAX),
  );
