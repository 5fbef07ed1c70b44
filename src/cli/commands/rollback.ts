/** `rollback`: an object, or all objects of an owner, as they were at a moment. */
import type { Command } from 'commander';
import type { Versions } from '../../api/endpoints/history.js';
import type { SetItem } from '../../api/endpoints/sets.js';
import { KINDS } from '../../api/objects.js';
import type { Call, Cli } from '../cli.js';
import type { Answer } from '../client/http.js';
import { asOf, type Moment, momentText } from '../client/moment.js';
import { type Exported, keyOf, refOfItem, type WholeSet } from '../files/sets.js';
import { CliError, misused } from '../print/error.js';
import {
  type Applied,
  type ApplyOptions,
  isAgreed,
  mayAsk,
  planOf,
  sent,
  tellApplied,
  withQuestion,
} from './apply-set.js';
import { noteFiltered } from './export.js';
import { type HistoryObject, objectCalled, withObject } from './object-argument.js';

interface RollbackOptions extends ApplyOptions {
  readonly to?: string;
  readonly owner?: string;
  readonly delete?: boolean;
  readonly prune?: boolean;
}

export function addRollback(program: Command, cli: Cli): void {
  const rollback = withObject(
    program.command('rollback').description('restore objects to an earlier moment'),
  );
  withQuestion(rollback)
    .option('--to <index|time>', 'the moment: an index, or a time such as 2026-11-03T14:05:00Z')
    .option('--owner <name>', 'all objects that this owner has now, instead of one object')
    .option('--delete', 'delete the object if it did not exist then')
    .option('--prune', 'with --owner: delete what has been made since')
    .addHelpText('after', '\nWhat has been made since by the owner stays, unless --prune is given.')
    .action(
      cli.action<RollbackOptions>(async (call, type, name) => {
        const { options } = call;
        const { owner, to } = options;
        if (to === undefined) misused('--to is missing: name an index or a time');
        if ((owner === undefined) === (type === undefined))
          misused('name either an object, as TYPE NAME, or --owner');
        mayAsk(call);
        const body =
          owner === undefined
            ? await oneAt(call, await objectCalled(call, type, name), to)
            : await ownedAt(call, owner, to);
        const set = { body, placeOf: () => undefined };
        const plan = await planOf(call, set);
        if (!(await isAgreed(call, plan, set))) return;
        const answer = await sent(call, '/v1/apply', { ...body, Digest: plan.Digest });
        await tellApplied(call, answer.json<Applied>());
      }),
    );
}

async function exportedAt(
  { api }: Call<object>,
  at: string,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  return asOf(() => api.get('/v1/export', { query: { ...query, at }, isCurrent: true }));
}

/** Returns a set of what an owner's objects were. */
async function ownedAt(call: Call<RollbackOptions>, owner: string, at: string): Promise<WholeSet> {
  const answer = await exportedAt(call, at, { owner, ns: '*' });
  noteFiltered(call.print, answer);
  const { Objects } = answer.json<Exported>();
  const Prune = call.options.prune === true;
  return { Owner: owner, ...(Prune && { Prune }), Objects, Delete: [], Assert: [] };
}

/** Returns a set of what an object was, or of its deletion if it did not exist. */
async function oneAt(
  call: Call<RollbackOptions>,
  object: HistoryObject,
  at: string,
): Promise<WholeSet> {
  const { id, type } = object;
  if (type === 'token') return tokenAt(call, object, at);
  const which = type === 'config' ? { kind: kindIn(id), types: 'config' } : { types: type };
  const query = { ns: homeOf(object), ...which, partial: 'true' };
  const { At, Objects } = (await exportedAt(call, at, query)).json<Exported>();
  const found = Objects.find((item) => isMeant(item, object));
  if (found !== undefined) return { Objects: [found], Delete: [], Assert: [] };
  const absent = await absentAt(call, object, At!);
  if (call.options.delete !== true)
    throw new CliError(absent, { code: 'not_found', hint: 'use --delete to delete it' });
  return { Objects: [], Delete: [doomedOf(object)], Assert: [] };
}

/**
 * Returns that an object did not exist at a moment. Throws if the history does not prove it: what
 * is not exported may be unknown, or as the server makes it.
 */
async function absentAt(
  call: Call<object>,
  { path, type }: HistoryObject,
  at: Moment,
): Promise<string> {
  const { Name, then, oldest } = await versionAt(call, path, ({ Index }) => Index <= at.Index);
  // Refused if it is unknown, as from before a restore. The versions alone do not tell that.
  const query = { from: String(at.Index) };
  await asOf(() => call.api.get(path, { query, isCurrent: true }));
  const what = `${type} "${Name}"`;
  const when = momentText(at);
  if (then !== undefined && then.Size !== 0)
    throw new CliError(`${what} existed at ${when}, but cannot be restored from then`, {
      hint: 'it was as the server makes it, or what it linked is no longer known',
    });
  if (then === undefined && oldest?.Operation !== 'create')
    throw new CliError(`what ${what} was at ${when} is no longer known`, {
      code: 'not_found',
      ...(oldest && { hint: `the oldest moment that is known is ${momentText(oldest)}` }),
    });
  return `${what} did not exist at ${when}`;
}

/** The most versions that one answer has. */
const VERSIONS_MAX = '1000';

type Row = NonNullable<Versions['Versions']>[number];

/** Finds the newest version that is meant, and the oldest of those that were looked at. */
async function versionAt({ api }: Call<object>, path: string, isMeant: (row: Row) => boolean) {
  for (let before: string | undefined; ; ) {
    const query = { limit: VERSIONS_MAX, before };
    const answer = await api.get(path, { query, isCurrent: true });
    const { Name, Versions: rows = [], More } = answer.json<Versions>();
    const then = rows.find(isMeant);
    const oldest = rows.at(-1);
    if (then !== undefined || oldest === undefined || More !== true) return { Name, then, oldest };
    before = String(oldest.Index);
  }
}

/** Returns a set of what a token was. Exports do not hold tokens, but the history does. */
async function tokenAt(
  call: Call<object>,
  { id, path }: HistoryObject,
  at: string,
): Promise<WholeSet> {
  const isIndex = /^\d+$/.test(at);
  const { then } = await versionAt(call, path, ({ Index, Time }) =>
    isIndex ? Index <= Number(at) : Time !== null && Date.parse(Time) <= Date.parse(at),
  );
  const query = { version: String(then?.Index) };
  const version = then && (await call.api.get(path, { query }));
  const held = version?.json<Versions>().Object ?? undefined;
  if (held === undefined)
    throw new CliError(`what token "${id}" was at ${at} is not known`, { code: 'not_found' });
  return { Objects: [{ Type: 'token', Object: held }], Delete: [], Assert: [] };
}

const isById = (type: string): boolean => /^(?:policy|role|binding-rule)$/.test(type);

const doomedOf = ({ id, type }: Pick<HistoryObject, 'id' | 'type'>) =>
  isById(type) ? { Type: type, ID: id } : { Type: type, Name: id };

const kindIn = (id: string): string => id.slice(0, id.indexOf('/'));

/** Returns the namespace whose export has an object; undefined for that of the request. */
function homeOf({ id, type }: HistoryObject): string | undefined {
  if (type === 'namespace') return id;
  const isGlobal = KINDS.some(({ isClusterWide, kind }) => isClusterWide && kind === kindIn(id));
  return type === 'config' && isGlobal ? 'default' : undefined;
}

/** Whether an item of an export of one namespace is an object. */
function isMeant(item: SetItem, { id, type }: HistoryObject): boolean {
  if (isById(type)) return item.Object['ID'] === id;
  const meant = refOfItem(doomedOf({ id, type }), item.Namespace);
  return keyOf(refOfItem(item)) === keyOf(meant);
}
