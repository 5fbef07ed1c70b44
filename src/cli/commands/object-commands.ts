/** The commands that all ACL objects and namespaces have: create, read, update, delete, list. */
import { type Command, Option } from 'commander';
import { isObject } from '../../languages/fields.js';
import { type Call, type Cli, refusedSecret, several, sure, whole } from '../cli.js';
import type { Answer } from '../client/http.js';
import { memberChanges } from '../client/watch.js';
import { CliError, isLacking, isMissing } from '../print/error.js';
import type { Column, Shape } from '../print/output.js';
import { DEPENDENTS, dependentsOf } from './dependents.js';
import { addedLinks } from './links.js';
import {
  find,
  hidden,
  idIn,
  idOf,
  memberAt,
  nameIn,
  noteNamespace,
  type ObjectType,
  type OneOptions,
  pathOf,
  type Stored,
  wanted,
} from './objects.js';
import { notePage, type PageOptions, pageQuery, withPages } from './pages.js';

type Options = Readonly<Record<string, unknown>>;
type Members = Record<string, unknown>;

/** An option that sets a member of an object. */
export interface Flag {
  readonly flags: string;
  readonly what: string;
  /**
   * The member. A dot leads into a member; `[]` stands for a list with one object, of which several
   * options set members. Absent: the option is only checked.
   */
  readonly member?: string;
  readonly isRepeatable?: true;
  /** Set if an update adds to what is there; with `merging`, only without `--no-merge`. */
  readonly adds?: 'merging' | 'always';
  /** Set for a secret, which an option may not hold: what to use instead. */
  readonly instead?: string;
  /** Returns the value of the member. Absent: it is that of the option. */
  read?(value: never, call: Call<Options>): unknown;
}

/** The commands on the objects of a type. */
export interface ObjectCommands {
  readonly type: ObjectType;
  readonly description: string;
  /** The ends of the descriptions of commands. */
  readonly more?: { readonly create?: string; readonly update?: string };
  readonly flags: readonly Flag[];
  /** The options of updates, if they differ. */
  readonly updateFlags?: readonly Flag[];
  /** The members that an update sends as they are unless options set them. Absent: all of them. */
  readonly kept?: readonly string[];
  /** The same with `--no-merge`. */
  readonly required: readonly string[];
  /** What to suggest if a name is taken. */
  readonly instead?: string;
  /** Options of `list`: the parameter that each sets, and the type of object it names. */
  readonly filters?: readonly (readonly [
    flags: string,
    what: string,
    parameter: string,
    type?: ObjectType,
  ])[];
}

const attributeOf = (flags: string): string => new Option(flags).attributeName();

/** Adds options for the members of an object. */
export function withFlags(command: Command, flags: readonly Flag[]): Command {
  for (const { flags: option, what, isRepeatable, instead } of flags)
    if (instead !== undefined) refusedSecret(command, option, instead);
    else if (isRepeatable) command.option(option, what, several);
    else command.option(option, what);
  return command;
}

/** Returns the members that options set, and those to which an update adds. */
export async function membersGiven(call: Call<object>, flags: readonly Flag[], isMerging = false) {
  const of = call as Call<Options>;
  const sets: Members = {};
  const adds: Members = {};
  for (const { flags: option, member, adds: isAdded, read } of flags) {
    const given = of.options[attributeOf(option)];
    if (given === undefined) continue;
    const value = read === undefined ? given : await read(given as never, of);
    if (member === undefined) continue;
    const into = isAdded === 'always' || (isMerging && isAdded) ? adds : sets;
    into[member] = together(into[member], value);
  }
  return { sets, adds };
}

/** Merges values: several options can set one list or object. */
function together(before: unknown, value: unknown): unknown {
  if (Array.isArray(before)) return [...before, ...(value as unknown[])];
  return before === undefined ? value : { ...before, ...(value as object) };
}

/** Returns members by their paths as an object. */
export function bodyOf(members: Members): object {
  const body: Members = {};
  for (const [path, value] of Object.entries(members)) {
    const [name = '', inner] = path.split('.');
    if (name.endsWith('[]')) body[name.slice(0, -2)] = [value];
    else body[name] = inner === undefined ? value : together(body[name], { [inner]: value });
  }
  return body;
}

/** Returns members of a stored object as a write takes them. */
export const kept = (held: Stored, names: readonly string[] = Object.keys(held)): Members =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = memberAt(held, name);
      return value === undefined || value === null || value === false ? [] : [[name, value]];
    }),
  );

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
const isNamed = ({ identity }: ObjectType): boolean => identity === 'Name';

/** Adds the argument and the options that say which object is meant. */
export function withOne(command: Command, type: ObjectType, isUpdate = false): Command {
  const { noun, identity, isReadByName } = type;
  const how = isReadByName ? 'its name or ID' : isNamed(type) ? 'its name' : 'its ID';
  command.argument(`[${noun.replaceAll(' ', '-')}]`, how);
  if (!isNamed(type)) command.option('--id <id>', 'its ID, or a unique prefix of it');
  if (identity === 'AccessorID') command.option('--accessor-id <id>', 'same as --id');
  // An update takes --name for the new name of what has an ID.
  if (isNamed(type) || (isReadByName && !isUpdate)) command.option('--name <name>', 'its name');
  return command;
}

const IF_MATCH = 'only if its ModifyIndex is this one';

/** Adds the commands of a type. Returns the command that they are below. */
export function addObject(parent: Command, cli: Cli, commands: ObjectCommands): Command {
  const group = parent.command(commands.type.slug).description(commands.description);
  addCreate(group, cli, commands);
  addRead(group, cli, commands.type);
  addUpdate(group, cli, commands);
  addDelete(group, cli, commands.type);
  addList(group, cli, commands);
  return group;
}

function addCreate(group: Command, cli: Cli, commands: ObjectCommands): void {
  const { type, more, flags } = commands;
  const create = group
    .command('create')
    .description(`create ${withArticle(type.noun)}${more?.create ?? ''}`);
  if (isNamed(type)) withOne(create, type);
  withFlags(create, flags).action(
    cli.action<OneOptions>(async (call, argument) => {
      const name = isNamed(type) ? wanted(type, argument, call.options).text : undefined;
      const members = bodyOf((await membersGiven(call, flags)).sets);
      const answer = await (name === undefined
        ? call.api.ask('PUT', type.path, { body: members })
        : createNamed(call, commands, { Name: name, ...members }));
      await call.print.item(answer.json<Stored>(), type.shape);
    }),
  );
}

function addRead(group: Command, cli: Cli, type: ObjectType): void {
  const command = group.command('read').description(`show ${withArticle(type.noun)}`);
  withOne(command, type).option(
    '--meta',
    'accepted for Consul compatibility; indexes are always shown',
  );
  if (type.secrets.length > 0) command.option('--show-secret', 'show the SecretID');
  command.action(
    cli.action<OneOptions & { showSecret?: boolean }>(async (call, argument) => {
      const item = await find(call, type, wanted(type, argument, call.options));
      await call.print.item(call.options.showSecret ? item : hidden(type, item), type.shape);
    }),
  );
}

function addUpdate(group: Command, cli: Cli, commands: ObjectCommands): void {
  const { type, more, flags, updateFlags = flags, required } = commands;
  const update = group
    .command('update')
    .description(`change the given fields of ${withArticle(type.noun)}${more?.update ?? ''}`);
  withFlags(withOne(update, type, true), updateFlags)
    .option('--no-merge', 'replace the whole object: fields that are not given become empty')
    .option('--if-match <index>', IF_MATCH, whole)
    .action(
      cli.action<OneOptions & { merge?: boolean; ifMatch?: number }>(async (call, argument) => {
        const { options } = call;
        const which = wanted(type, argument, type.isReadByName ? { id: options.id } : options);
        const { sets, adds } = await membersGiven(call, updateFlags, options.merge);
        const held = await find(call, type, which, { isCurrent: true });
        const members = options.merge
          ? replacing(held, sets)
          : { ...kept(held, required), ...sets };
        for (const [name, value] of Object.entries(adds)) {
          const before = memberAt(held, name) as readonly never[] | undefined;
          const note = (text: string): void => call.print.note(text);
          members[name] = Array.isArray(value)
            ? addedLinks({ [name]: before ?? [] }, { [name]: value }, note)[name]
            : value;
        }
        const how = options.merge ? 'PATCH' : 'PUT';
        const answer = await changed(call, type, held, { how, body: bodyOf(members) });
        await call.print.item(hidden(type, answer.json<Stored>()), type.shape);
      }),
    );
}

function addDelete(group: Command, cli: Cli, type: ObjectType): void {
  const dependents = DEPENDENTS[type.key];
  const command = group
    .command('delete')
    .alias('rm')
    .description(`delete ${withArticle(type.noun)}`);
  withOne(command, type).option('--if-match <index>', IF_MATCH, whole);
  if (dependents !== undefined)
    command.option('--yes', 'delete without asking; questions are asked on a terminal only');
  command.action(
    cli.action<OneOptions & { ifMatch?: number; yes?: boolean }>(async (call, argument) => {
      const item = await find(call, type, wanted(type, argument, call.options), {
        isCurrent: true,
      });
      const ref = type.shape.ref(item);
      const { canAsk } = call.io;
      const isTold = dependents !== undefined && (canAsk || call.options.quiet !== true);
      const others = isTold ? await dependentsOf(call, dependents, item) : undefined;
      if (others !== undefined && canAsk) await sure(call, `${ref}: ${others.before}; delete it?`);
      const answer = await changed(call, type, item, { how: 'DELETE' });
      if (answer.text.trim() === 'false')
        throw new CliError(`there is no ${type.noun} "${idIn(type, item)}"`, {
          code: 'not_found',
        });
      await call.print.done('deleted', ref, true);
      if (others !== undefined) call.print.note(others.after);
    }),
  );
}

/** Returns the members of a patch. An object takes the place of the one that is there. */
function replacing(held: Stored, sets: Members): Members {
  const replaced = Object.entries(sets).map(([name, value]) => {
    const before = memberAt(held, name);
    if (!isObject(before) || !isObject(value)) return [name, value];
    const gone = Object.keys(before).filter((key) => !Object.hasOwn(value, key));
    return [name, { ...Object.fromEntries(gone.map((key) => [key, null])), ...value }];
  });
  return Object.fromEntries(replaced);
}

/**
 * Changes an object in the version that was read, or that the user names; a delete without a name
 * takes any. Throws what others have changed if it has another version.
 */
async function changed(
  call: Call<{ ifMatch?: number }>,
  type: ObjectType,
  held: Stored,
  { how, body }: { readonly how: 'PATCH' | 'PUT' | 'DELETE'; readonly body?: object },
): Promise<Answer> {
  const { ifMatch } = call.options;
  const index = ifMatch ?? (how === 'DELETE' ? undefined : held.ModifyIndex);
  const headers = index === undefined ? {} : { 'If-Match': `"${index}"` };
  try {
    return await call.api.ask(how, pathOf(type, idIn(type, held)), { body, headers });
  } catch (error) {
    const isMoved = error instanceof CliError && error.details.code === 'precondition_failed';
    if (!isMoved) throw error;
    const others = ifMatch === undefined ? await changesSince(call, type, held) : undefined;
    const hint = 'nothing was written: read it, and repeat the command if it still applies';
    throw new CliError(others ?? error.message, { ...error.details, hint });
  }
}

/** Returns what others have changed since an object was read, as a sentence. */
async function changesSince(
  call: Call<object>,
  type: ObjectType,
  held: Stored,
): Promise<string | undefined> {
  const what = `the ${type.noun} "${nameIn(type, held)}"`;
  try {
    const now = await find(call, type, { text: idIn(type, held) }, { isCurrent: true });
    const members = memberChanges(hidden(type, held), hidden(type, now));
    return `${what} was changed meanwhile: ${members.join('; ') || 'written again as it was'}`;
  } catch (error) {
    return isMissing(error) ? `${what} was deleted meanwhile` : undefined;
  }
}

function addList(group: Command, cli: Cli, { type, filters = [] }: ObjectCommands): void {
  const list = group.command('list').alias('ls').description(`list ${type.plural}`);
  const command = withPages(list, 'Name == "web"').option('--meta', 'show the indexes too');
  for (const [flags, what] of filters) command.option(flags, what);
  command.action(
    cli.action<Record<string, string> & PageOptions>(async (call) => {
      const query = pageQuery(call.options);
      for (const [flags, , parameter, named] of filters) {
        const given = call.options[attributeOf(flags)];
        query[parameter] = named === undefined ? given : await idOf(call, named, given);
      }
      const answer = await call.api.get(type.listPath, { query });
      const items = answer.json<Stored[]>();
      const shown = items.map((item) => hidden(type, item));
      await call.print.list(shown, shapeFor(call, type.shape));
      if (items.length === 0) await noteNamespace(call);
      notePage(call, answer, items.length);
    }),
  );
}

/** Returns a shape with the columns of lists over all namespaces, and with `--meta`. */
function shapeFor({ options, api }: Call<object>, shape: Shape<Stored>): Shape<Stored> {
  const member = (head: string, name: string): Column<Stored> => ({
    head,
    isWhole: true,
    ...(name !== 'Namespace' && { isMinor: true }),
    cell: (item) => String(item[name] ?? ''),
  });
  const before = api.namespace === '*' ? [member('NAMESPACE', 'Namespace')] : [];
  const after =
    'meta' in options ? [member('CREATED', 'CreateIndex'), member('MODIFIED', 'ModifyIndex')] : [];
  return { ...shape, columns: [...before, ...shape.columns, ...after] };
}

/** Writes an object that its name identifies. Throws if there is one, which it would replace. */
async function createNamed(
  call: Call<object>,
  { type, instead: hint }: ObjectCommands,
  body: { readonly Name: string },
): Promise<Answer> {
  const { api } = call;
  const refusal = (is: string, hint?: string): CliError =>
    new CliError(`the ${type.noun} "${body.Name}" ${is}`, { code: 'conflict', hint });
  // Release 0.3.0 and Consul ignore the condition of the write.
  const held = await heldUnder(call, type, body.Name);
  if (held?.['DeletedAt'] !== undefined) throw refusal('is being deleted');
  if (held !== undefined) throw refusal('already exists', hint);
  try {
    const headers = { 'If-None-Match': '*' };
    return await api.ask('PUT', type.path, { body, headers, isFinal: isLacking });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error.details.code === 'precondition_failed') throw refusal('already exists', hint);
    if (!isLacking(error)) throw error;
  }
  return api.ask('PUT', type.path, { body });
}

/** Returns what a name identifies; undefined if there is nothing that may be read. */
async function heldUnder(
  { api }: Call<object>,
  type: ObjectType,
  name: string,
): Promise<Stored | undefined> {
  try {
    return (await api.get(pathOf(type, name), { isCurrent: true })).json<Stored>();
  } catch (error) {
    // Whoever may write it, may read it; otherwise the write is refused.
    const isDenied = error instanceof CliError && error.details.code === 'permission_denied';
    if (isDenied || isMissing(error)) return undefined;
    throw error;
  }
}
