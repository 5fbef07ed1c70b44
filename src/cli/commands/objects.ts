/** What the commands of all ACL objects and namespaces share: find, list, read, update, delete. */
import type { Command } from 'commander';
import { closest, distance } from 'fastest-levenshtein';
import { type Call, type Cli, sure, whole } from '../cli.js';
import type { Ask } from '../client/http.js';
import { watch } from '../client/watch.js';
import { CliError, misused } from '../print/error.js';
import type { Column, Shape } from '../print/output.js';
import { plural } from '../print/text.js';
import { type Dependents, dependentsOf } from './dependents.js';

/** A type of object in the API. */
export interface ObjectType<T> {
  readonly noun: string;
  /** `/v1/acl/policy` */
  readonly path: string;
  /** `/v1/acl/policies` */
  readonly listPath: string;
  /** The last part of the path of an object: its ID or name. */
  readonly id: (item: T) => string;
  /** The name by which people know it; undefined if it has none. */
  readonly name?: (item: T) => string;
  /** Whether it can be read at `path/name/NAME`. */
  readonly isReadByName?: true;
  /** Whether its name is the id in paths. */
  readonly isNamed?: true;
  readonly shape: Shape<T>;
  /** Returns an object without its secrets. */
  readonly hidden?: (item: T) => T;
  /** What a delete takes something away from, or deletes too. */
  readonly dependents?: Dependents<T>;
}

/** Options of commands about one object. */
export interface OneOptions {
  readonly id?: string;
  readonly name?: string;
}

/** What the user calls an object. */
export interface Called {
  readonly text: string;
  /** Undefined if the text may be a name, an ID, or the beginning of an ID. */
  readonly by?: 'id' | 'name';
}

/** Options of reads that can wait for changes. */
export interface WatchOptions {
  readonly watch?: boolean;
}

/** An ID. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** The shortest beginning of an ID that is looked for. */
const PREFIX = /^[0-9a-f][0-9a-f-]{3,35}$/i;
/** The largest edit distance at which another name is suggested. */
const NEAR_MAX = 3;

/** Returns the path of an object by the last part of it. */
export const pathOf = <T>({ path }: ObjectType<T>, id: string): string =>
  `${path}/${encodeURIComponent(id)}`;

/** Returns what the user calls the object: an argument, `--id` or `--name`. */
export function wanted<T>(
  { noun, isNamed, name }: ObjectType<T>,
  argument: string | undefined,
  { id, name: named }: OneOptions,
): Called {
  const given: readonly Called[] = [
    ...(argument === undefined ? [] : [{ text: argument }]),
    ...(id === undefined ? [] : [{ text: id, by: 'id' as const }]),
    ...(named === undefined ? [] : [{ text: named, by: 'name' as const }]),
  ];
  if (given.length === 1) return given[0]!;
  const byId = 'its ID or a unique prefix of it';
  const how = isNamed ? 'its name' : name === undefined ? byId : `its name, ${byId}`;
  return misused(
    given.length === 0 ? `no ${noun} given: use ${how}` : `more than one ${noun} given`,
  );
}

/** Finds an object. Throws if there is none, or if the beginning of an ID fits several. */
export async function find<T>(
  call: Call<object>,
  type: ObjectType<T>,
  called: Called,
  ask: Pick<Ask, 'isCurrent'> = {},
): Promise<T> {
  const { api } = call;
  const { text, by } = called;
  const read = async (path: string): Promise<T | undefined> => {
    try {
      return (await api.get(path, ask)).json<T>();
    } catch (error) {
      if (error instanceof CliError && isMissing(error)) return undefined;
      throw error;
    }
  };
  if (type.isNamed || (by !== 'name' && UUID.test(text)))
    return (await read(pathOf(type, text))) ?? missing(call, type, called);
  if (by !== 'id' && type.isReadByName) {
    const found = await read(`${type.path}/name/${encodeURIComponent(text)}`);
    if (found !== undefined) return found;
  }
  if (by === 'name' || !PREFIX.test(text)) return missing(call, type, called);
  const all = (await api.get(type.listPath, ask)).json<T[]>();
  const begins = all.filter((one) => type.id(one).startsWith(text.toLowerCase()));
  if (begins.length > 1)
    throw new CliError(
      `"${text}" is ambiguous: the IDs of ${begins.length} ${plural(type.noun)} begin with it`,
    );
  // A list leaves out some members.
  const found = begins.length === 0 ? undefined : await read(pathOf(type, type.id(begins[0]!)));
  return found ?? missing(call, type, called);
}

/** A token that does not exist is a 403. */
const isMissing = ({ details: { code, problem } }: CliError): boolean =>
  code === 'not_found' || problem?.['status'] === 404 || problem?.['about'] === 'token';

/** Throws the error of an object that does not exist, with the nearest name as a suggestion. */
async function missing<T>(
  { api }: Call<object>,
  type: ObjectType<T>,
  { text, by }: Called,
): Promise<never> {
  let all: readonly T[] = [];
  try {
    all = (await api.get(type.listPath)).json<T[]>();
  } catch (error) {
    // What is missing can be told without a suggestion.
    if (!(error instanceof CliError)) throw error;
  }
  const names = all.map(type.isNamed || by === 'id' ? type.id : (type.name ?? type.id));
  const near = names.length === 0 ? undefined : closest(text, names);
  const isNear = near !== undefined && distance(text, near) <= NEAR_MAX;
  throw new CliError(`there is no ${type.noun} "${text}"`, {
    code: 'not_found',
    hint: isNear ? `did you mean "${near}"?` : undefined,
  });
}

/** The columns of lists over all namespaces, and with `--meta`. */
function columnsFor<T>({ options, api }: Call<{ meta?: boolean }>, shape: Shape<T>): Shape<T> {
  const member = (head: string, name: string): Column<T> => ({
    head,
    isWhole: true,
    ...(name !== 'Namespace' && { isMinor: true }),
    cell: (item) => String((item as Record<string, unknown>)[name] ?? ''),
  });
  const before = api.namespace === '*' ? [member('NAMESPACE', 'Namespace')] : [];
  const after =
    options.meta === true
      ? [member('CREATED', 'CreateIndex'), member('MODIFIED', 'ModifyIndex')]
      : [];
  return { ...shape, columns: [...before, ...shape.columns, ...after] };
}

/** Adds the option that keeps reading. */
export const withWatch = (command: Command): Command =>
  command.option('--watch', 'keep running, and print again after each change');

/** Returns the ID of what an option names, by name or ID; undefined without the option. */
export const idOf = async <T>(
  call: Call<object>,
  type: ObjectType<T>,
  text: string | undefined,
): Promise<string | undefined> =>
  text === undefined || UUID.test(text) ? text : type.id(await find(call, type, { text }));

/** Adds `list`. `query` returns the parameters of the request. */
export function addList<T, O>(
  parent: Command,
  cli: Cli,
  type: ObjectType<T>,
  query: (call: Call<O>) => Promise<Record<string, string | undefined>> = async () => ({}),
): Command {
  const command = parent
    .command('list')
    .alias('ls')
    .description(`list ${plural(type.noun)}`);
  command.option('--filter <expression>', 'list only what matches, such as \'Name == "web"\'');
  command.option('--meta', 'show the indexes too');
  return withWatch(command).action(
    cli.action<O & WatchOptions & { filter?: string; meta?: boolean }>(async (call) => {
      const { filter, watch: goesOn } = call.options;
      const shape = columnsFor(call, type.shape);
      const all = { path: type.listPath, query: { filter, ...(await query(call)) } };
      // What the API answers at the path of a type is of this type.
      const show = async (items: unknown): Promise<void> =>
        call.print.list((items as T[]).map(type.hidden ?? ((item) => item)), shape);
      if (goesOn) return watch(call, all, show);
      const items = (await call.api.get(all.path, { query: all.query })).json<T[]>();
      await show(items);
      if (items.length === 0) await noteNamespace(call);
    }),
  );
}

/**
 * Says after an empty list that its namespace may not exist: the answer is the same for one in
 * which the token has no right.
 */
export async function noteNamespace({ api, print }: Call<object>): Promise<void> {
  const { namespace } = api;
  if (namespace === undefined || namespace === '*' || namespace === 'default') return;
  try {
    await api.get(`/v1/namespace/${encodeURIComponent(namespace)}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    print.note(`the namespace "${namespace}" does not exist, or this token has no right in it`);
  }
}

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Adds the argument and the options that say which object is meant. */
export function withOne<T>(command: Command, type: ObjectType<T>, isUpdate = false): Command {
  command.argument(
    `[${type.noun.replaceAll(' ', '-')}]`,
    type.name ? 'its name or ID' : type.isNamed ? 'its name' : 'its ID',
  );
  if (!type.isNamed) command.option('--id <id>', 'its ID, or a unique prefix of it');
  // An update takes --name for the new name of what has an ID.
  if (type.isNamed || (type.name !== undefined && !isUpdate))
    command.option('--name <name>', 'its name');
  return command;
}

/** Adds `read`. */
export function addRead<T>(parent: Command, cli: Cli, type: ObjectType<T>): Command {
  const command = parent.command('read').description(`show ${withArticle(type.noun)}`);
  withOne(command, type).option(
    '--meta',
    'accepted for Consul compatibility; indexes are always shown',
  );
  if (type.hidden !== undefined) command.option('--show-secret', 'show the SecretID');
  return withWatch(command).action(
    cli.action<OneOptions & WatchOptions & { showSecret?: boolean }>(async (call, argument) => {
      const { watch: goesOn, showSecret } = call.options;
      const shown = (showSecret ? undefined : type.hidden) ?? ((item: T) => item);
      const show = (value: unknown): Promise<void> =>
        call.print.item(shown(value as T), type.shape);
      const item = await find(call, type, wanted(type, argument, call.options));
      if (goesOn) return watch(call, { path: pathOf(type, type.id(item)) }, show);
      return show(item);
    }),
  );
}

/** What a command promises that compares versions: the server does not compare them yet. */
const IF_MATCH =
  'only if its ModifyIndex is this one when it is read; a change after that is not noticed';

/** Adds `delete`. */
export function addDelete<T>(parent: Command, cli: Cli, type: ObjectType<T>): Command {
  const command = parent
    .command('delete')
    .alias('rm')
    .description(`delete ${withArticle(type.noun)}`);
  withOne(command, type).option('--if-match <index>', IF_MATCH, whole);
  if (type.dependents !== undefined)
    command.option('--yes', 'delete without asking; questions are asked on a terminal only');
  return command.action(
    cli.action<OneOptions & { ifMatch?: number; yes?: boolean }>(async (call, argument) => {
      const which = wanted(type, argument, call.options);
      const item = await find(call, type, which, { isCurrent: true });
      mustMatch(type, item, call.options.ifMatch);
      const ref = type.shape.ref(item);
      const { canAsk } = call.io;
      const isTold = type.dependents !== undefined && (canAsk || call.options.quiet !== true);
      const others = isTold ? await dependentsOf(call, type.dependents, item) : undefined;
      if (others !== undefined && canAsk) await sure(call, `${ref}: ${others.before}; delete it?`);
      const answer = await call.api.ask('DELETE', pathOf(type, type.id(item)));
      if (answer.text.trim() === 'false')
        throw new CliError(`there is no ${type.noun} "${type.id(item)}"`, { code: 'not_found' });
      await call.print.done('deleted', ref, true);
      if (others !== undefined) call.print.note(others.after);
    }),
  );
}

/** Throws unless an object has the version that the user expects. */
function mustMatch<T>(type: ObjectType<T>, held: T, index: number | undefined): void {
  const { ModifyIndex: own } = held as { readonly ModifyIndex?: number };
  if (index === undefined || own === index) return;
  const what = `${type.noun} "${(type.name ?? type.id)(held)}"`;
  throw new CliError(`the ${what} has ModifyIndex ${own}, not ${index}`, {
    code: 'precondition_failed',
  });
}

/** Throws if an object exists that a `create` would replace. `instead` is what replaces it. */
export async function mustBeNew<T>(
  { api }: Call<object>,
  type: ObjectType<T>,
  name: string,
  instead: string,
): Promise<void> {
  try {
    const answer = await api.get(pathOf(type, name), { isCurrent: true });
    // The server knows what can be done while a namespace is being deleted.
    if (answer.json<{ readonly DeletedAt?: string }>().DeletedAt !== undefined) return;
  } catch (error) {
    // Whoever may write it, may read it; otherwise the write is refused.
    if (
      error instanceof CliError &&
      (isMissing(error) || error.details.code === 'permission_denied')
    )
      return;
    throw error;
  }
  throw new CliError(`the ${type.noun} "${name}" already exists`, {
    code: 'conflict',
    hint: instead,
  });
}

/** Updates an object: reads it, changes it, and writes it. */
export async function update<T>(
  call: Call<{ ifMatch?: number }>,
  type: ObjectType<T>,
  called: Called,
  changed: (held: T) => object | Promise<object>,
): Promise<T> {
  const held = await find(call, type, called, { isCurrent: true });
  mustMatch(type, held, call.options.ifMatch);
  const body = await changed(held);
  return (await call.api.ask('PUT', pathOf(type, type.id(held)), { body })).json<T>();
}

/** Adds the options of updates. */
export const withUpdate = (command: Command): Command =>
  command
    .option('--no-merge', 'replace the whole object: fields that are not given become empty')
    .option('--if-match <index>', IF_MATCH, whole);
