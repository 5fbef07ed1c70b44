/** `watch`: prints each change of an entry, an object or a list. */
import type { Command } from 'commander';
import { isUuid } from '../../acl/names.js';
import { type Call, type Cli, whole } from '../cli.js';
import { type Change, changesBetween, readsOf } from '../client/watch.js';
import { misused } from '../print/error.js';
import type { Shape } from '../print/output.js';
import { type Paint, painted } from '../print/table.js';
import { localTime, oneLine } from '../print/text.js';
import { ENTRIES, type Entry, entryPath, KINDS, kindPath } from './entries.js';
import { hidden, type ObjectType, pathOf, type Stored, TYPE } from './objects.js';

interface WatchOptions {
  readonly changes?: number;
}

/** What can be watched: one object, or a list. */
interface Target {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly isList: boolean;
  /** Returns what is there by an answer; undefined stands for a missing object. */
  itemsOf(value: unknown): readonly unknown[];
  /** What the change of an object that is missing is about. */
  readonly name: string;
  refOf(item: unknown): string;
  hidden(item: unknown): unknown;
  show(call: Call<object>, value: unknown): Promise<void>;
}

const PAINTS: Readonly<Record<Change['what'], Paint>> = {
  created: 'green',
  changed: 'yellow',
  deleted: 'red',
};

export function addWatch(program: Command, cli: Cli): void {
  program
    .command('watch')
    .description('print an entry, an object or a list, and each change to it')
    .argument('<what>', 'KIND/NAME, role/NAME, policies, …')
    .option('--changes <count>', 'exit after this many changes', whole)
    .addHelpText(
      'after',
      '\nEntries: KIND/NAME, or KIND for all entries of a kind\n' +
        'Objects: policy/NAME, role/NAME, token/ID, auth-method/NAME, binding-rule/ID,\n' +
        '         namespace/NAME\n' +
        'Lists:   policies, roles, tokens, auth-methods, binding-rules, namespaces\n' +
        'If it does not exist yet, the command waits for it.',
    )
    .action(
      cli.action<WatchOptions>((call, what) => watchChanges(call, targetOf(what!), call.options)),
    );
}

/** What each word names: one object of a type, or the list of them. */
const WORDS: Readonly<Record<string, (name: string | undefined) => Target>> = Object.fromEntries(
  Object.values(TYPE).flatMap((type) => [
    [type.slug, type === TYPE.token ? tokenOf : of(type)],
    [type.listPath.slice(type.listPath.lastIndexOf('/') + 1), of(type)],
  ]),
);

/** The words for objects and lists of them; kinds of entries come to these. */
export const WATCHABLE: readonly string[] = Object.keys(WORDS);

/** Returns what a text names: `role/ops`, `roles`, `service-defaults/web`, `service-defaults`. */
export function targetOf(text: string): Target {
  const slash = text.indexOf('/');
  const head = slash < 0 ? text : text.slice(0, slash);
  const name = slash < 0 ? undefined : text.slice(slash + 1);
  const isPlural = head.endsWith('s');
  const type = Object.hasOwn(WORDS, head) ? WORDS[head] : undefined;
  if (type !== undefined && isPlural === (name === undefined) && name !== '') return type(name);
  const isKind = KINDS.some((kind) => kind === head);
  if (type === undefined && name !== '' && (isKind || name !== undefined)) return entry(head, name);
  return misused(
    `"${text}" cannot be watched`,
    'run conclave watch --help to see what can: KIND/NAME, KIND, role/NAME, roles, …',
  );
}

function of(type: ObjectType): (name: string | undefined) => Target {
  return (name) => ({
    path: name === undefined ? type.listPath : singlePath(type, name),
    ...targetParts(type.shape, name, type.noun),
    hidden: (item) => hidden(type, item as Stored),
    show: (call, value) =>
      name === undefined
        ? call.print.list(value as Stored[], type.shape)
        : call.print.item(value as Stored, type.shape),
  });
}

/** A token that does not exist is refused without an index to wait on, so its list is watched. */
function tokenOf(id = ''): Target {
  if (!isUuid(id)) misused(`"${id}" is not an AccessorID`, 'conclave acl token list shows them');
  const accessor = id.toLowerCase();
  return {
    ...of(TYPE.token)(accessor),
    path: TYPE.token.listPath,
    query: { filter: `AccessorID == "${accessor}"` },
    // Other servers of the API know no filter here.
    itemsOf: (value) => (value as Stored[]).filter(({ AccessorID }) => AccessorID === accessor),
  };
}

function singlePath(type: ObjectType, name: string): string {
  const isByName = type.isReadByName === true && !isUuid(name);
  return isByName ? `${type.path}/name/${encodeURIComponent(name)}` : pathOf(type, name);
}

function entry(kind: string, name: string | undefined): Target {
  return {
    path: name === undefined ? kindPath(kind) : entryPath({ kind, name }),
    ...targetParts(ENTRIES, name, kind),
    hidden: (item) => item,
    show: (call, value) =>
      name === undefined
        ? call.print.list(value as Entry[], ENTRIES)
        : call.print.value(value as Entry),
  };
}

/** What the API answers at the path of a type is of this type. */
const targetParts = <T>(shape: Shape<T>, name: string | undefined, noun: string) => ({
  isList: name === undefined,
  itemsOf: (value: unknown) =>
    name === undefined ? (value as unknown[]) : [value].filter((one) => one !== undefined),
  name: `${noun}${name === undefined ? '' : `/${name}`}`,
  refOf: (item: unknown) => shape.ref(item as T),
});

/** Prints what is there, then changes, until there were as many as wanted. */
async function watchChanges(
  call: Call<object>,
  target: Target,
  { changes: wanted = Number.POSITIVE_INFINITY }: WatchOptions,
): Promise<void> {
  const { print } = call;
  if (print.format !== 'table') print.startSeries();
  call.io.endWithReader();
  let before: Map<string, unknown> | undefined;
  let seen = 0;
  for await (const { index, value } of readsOf(call.api, { ...target, mayBeMissing: true })) {
    const items = target.itemsOf(value).map(target.hidden);
    const after = new Map(items.map((item) => [target.refOf(item), item]));
    if (before === undefined) await first(call, target, index, items);
    else {
      const changes = changesBetween(before, after);
      for (const change of changes) await tell(call, index, change);
      if (changes.length > 0) seen += 1;
    }
    before = after;
    if (seen >= wanted) return;
  }
}

async function first(
  call: Call<object>,
  target: Target,
  index: number,
  items: readonly unknown[],
): Promise<void> {
  const { print } = call;
  if (print.format !== 'table')
    for (const item of items)
      await print.event({ Index: index, Change: 'present', Ref: target.refOf(item), Value: item });
  else if (items.length > 0) await target.show(call, target.isList ? items : items[0]);
  if (items.length === 0) print.note(`${target.name}: none yet, waiting for changes`);
  else print.note(`${target.name}: index ${index}, waiting for changes`);
}

async function tell({ print }: Call<object>, index: number, change: Change): Promise<void> {
  const { ref, what, value, members } = change;
  if (print.format !== 'table')
    return print.event({ Index: index, Change: what, Ref: ref, Value: value });
  const time = localTime(new Date().toISOString()).slice(11, 19);
  const done = painted(what, PAINTS[what], print.style.colour);
  print.text([
    `${time} ${done} ${oneLine(ref)} at index ${index}\n`,
    ...members.map((member) => `  ${oneLine(member)}\n`),
  ]);
}
