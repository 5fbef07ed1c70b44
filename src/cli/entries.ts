/** Config entries: their kinds, what the API answers, and how they are named. */
import type { Written } from './documents.js';
import { misused } from './fault.js';
import type { Shape } from './output.js';

/** The kinds that are listed where none is named, and completed. */
export const KINDS = [
  'api-gateway',
  'bound-api-gateway',
  'exported-services',
  'file-system-certificate',
  'http-route',
  'ingress-gateway',
  'inline-certificate',
  'jwt-provider',
  'mesh',
  'proxy-defaults',
  'service-defaults',
  'service-intentions',
  'service-resolver',
  'service-router',
  'service-splitter',
  'tcp-route',
  'terminating-gateway',
] as const;

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
    { head: 'KIND', cell: ({ Kind }) => Kind },
    { head: 'NAME', cell: ({ Name }) => Name },
    { head: 'NAMESPACE', cell: ({ Namespace }) => Namespace ?? '' },
    { head: 'MODIFIED', cell: ({ ModifyIndex }) => String(ModifyIndex ?? '') },
  ],
  fields: ({ Kind, Name }) => [
    ['Kind', Kind],
    ['Name', Name],
  ],
  ref: ({ Kind, Name, Namespace }) => `config/${Namespace ?? 'default'}/${Kind}/${Name}`,
};

/** Options that name an entry in Consul's form. */
export interface EntryOptions {
  readonly kind?: string;
  readonly name?: string;
}

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

/** Returns the path of an entry. */
export const entryPath = ({ kind, name }: Which): string =>
  `/v1/config/${encodeURIComponent(kind)}/${encodeURIComponent(name)}`;

/** Returns the Ref of an entry that is sent, with the members in one of their two spellings. */
export function refOf(namespace: string | undefined, value: Written['value']): string {
  const text = (name: string): string | undefined => {
    const found = value[name] ?? value[name.toLowerCase()];
    return typeof found === 'string' ? found : undefined;
  };
  const ns = text('Namespace') ?? namespace ?? 'default';
  const kind = text('Kind') ?? '';
  return `config/${ns}/${kind}/${text('Name') ?? kind}`;
}
