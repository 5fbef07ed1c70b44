/** Config entries: their kinds, what the API answers, and how they are named. */
import type { Command } from 'commander';
import { KINDS as ROWS } from '../../api/objects.js';
import type { Answer } from '../client/http.js';
import type { Written } from '../files/documents.js';
import { CliError, misused } from '../print/error.js';
import type { Shape } from '../print/output.js';

/** The kinds that are listed where none is named, and completed. */
export const KINDS: readonly string[] = ROWS.map(({ kind }) => kind);

/** An entry as the API answers it: its kind decides about further members. */
export interface Entry {
  readonly Kind: string;
  readonly Name: string;
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** Entries. One alone is shown as JSON, which `config write` takes again. */
export const ENTRIES: Shape<Entry> = {
  columns: [
    { head: 'KIND', isWhole: true, cell: ({ Kind }) => Kind },
    { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
    { head: 'NAMESPACE', cell: ({ Namespace }) => Namespace ?? '' },
    { head: 'MODIFIED', isMinor: true, cell: ({ ModifyIndex }) => String(ModifyIndex ?? '') },
  ],
  ref: ({ Kind, Name, Namespace }) => `config/${Namespace ?? 'default'}/${Kind}/${Name}`,
};

export interface EntryOptions {
  readonly kind?: string;
  readonly name?: string;
}

/** Adds the arguments and options that name an entry. */
export const withEntry = (command: Command): Command =>
  command
    .argument('[kind]', 'its kind, or KIND/NAME')
    .argument('[name]', 'its name')
    .option('--kind <kind>', 'its kind')
    .option('--name <name>', 'its name');

/** Which entry is meant. */
export interface Which {
  readonly kind: string;
  readonly name: string;
}

/** Returns the entry that the arguments or options name: `KIND/NAME`, `KIND NAME`, `--kind`. */
export function whichEntry(
  first: string | undefined,
  second: string | undefined,
  { kind, name }: EntryOptions,
): Which {
  const [, before, after] =
    /^([^/]+)\/(.+)$/s.exec(second === undefined ? (first ?? '') : '') ?? [];
  const which = {
    kind: kind ?? before ?? first ?? '',
    name: name ?? after ?? (kind === undefined ? second : first) ?? '',
  };
  if (which.kind === '' || which.name === '')
    misused('name the entry: KIND/NAME, or --kind and --name');
  return which;
}

/** Returns the path of the entries of a kind. */
export const kindPath = (kind: string): string => `/v1/config/${encodeURIComponent(kind)}`;

/** Returns the path of an entry. */
export const entryPath = ({ kind, name }: Which): string =>
  `${kindPath(kind)}/${encodeURIComponent(name)}`;

/** Returns a member of an entry that is sent, in one of its two spellings, if it is text. */
function textIn(value: Written['value'], name: string): string | undefined {
  const found = value[name] ?? value[name.toLowerCase()];
  return typeof found === 'string' ? found : undefined;
}

/** Returns the namespace that an entry names. */
export const namespaceIn = (value: Written['value']): string | undefined =>
  textIn(value, 'Namespace');

/** Returns which entry is sent. Its kind is empty if it has none. */
export function whichIn(value: Written['value']): Which {
  const kind = textIn(value, 'Kind') ?? '';
  return { kind, name: textIn(value, 'Name') ?? kind };
}

/** Returns the Ref of an entry that is sent. It has a namespace only if one is given. */
export function refOf(namespace: string | undefined, value: Written['value']): string {
  const { kind, name } = whichIn(value);
  const ns = namespaceIn(value) ?? namespace;
  return ['config', ...(ns === undefined ? [] : [ns]), kind, name].join('/');
}

/**
 * Returns whether an entry was written or deleted: false if it does not have the expected version.
 * Throws if the answer says neither.
 */
export function wasDone(answer: Answer): boolean {
  const said = JSON.stringify(answer.json());
  if (said === 'false') return false;
  // A delete without a version answers an empty object.
  if (said === 'true' || said === '{}') return true;
  throw new CliError(
    'the answer does not say whether it was done: this is not a server of this API',
    {
      hint: `it begins with ${JSON.stringify(answer.text.slice(0, 60))}`,
    },
  );
}
