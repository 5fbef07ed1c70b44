/** Config entries, their kinds and permissions. */
import type { Refusal } from '../base/errors.js';
import type { Problem } from './problems.js';

/** The names of all kinds, in alphabetical order, in which lists of all kinds answer them. */
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
export type Kind = (typeof KINDS)[number];
/** The kinds of certificates. */
export const CERTIFICATE_KINDS: readonly Kind[] = ['file-system-certificate', 'inline-certificate'];

/**
 * A normalised entry, as answers contain it but without indexes, Namespace and Status. Answers keep
 * the order of its keys.
 */
export interface ConfigEntry {
  readonly Kind: Kind;
  readonly Name: string;
  readonly [field: string]: unknown;
}

/** The outcome of decoding a body. */
export type Decoded =
  | { readonly ok: true; readonly entry: ConfigEntry }
  | { readonly ok: false; readonly refusal: Refusal; readonly problems: readonly Problem[] };

/**
 * A permission that an operation needs. `none` needs no right, not even a token; `never` is granted
 * to nobody.
 */
export interface Permission {
  readonly resource: 'service' | 'intention' | 'mesh' | 'none' | 'never';
  readonly access: 'read' | 'write';
  /** Whether the permission is on the name of the entry. */
  readonly named: boolean;
  /** An access that suffices too, on any service of any namespace. */
  readonly orAnyService?: 'write';
}

/** The identity of an entry in its namespace. */
export interface EntryId {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Access to the entries of a namespace while a change is validated: the state with the change
 * already made. Names match in any letter case.
 */
export interface EntryLookup {
  get(kind: Kind, name: string): ConfigEntry | undefined;
  list(kind: Kind): Iterable<ConfigEntry>;
  /** Returns the entries that name a target (see targets.ts). */
  naming(target: string): Iterable<EntryId>;
}
