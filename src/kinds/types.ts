/**
 * One config-entry kind. Pure: an entry goes in as a client sent it and comes out as it is stored
 * and answered.
 */
import type { Refusal } from '../errors.js';

export const KINDS = [
  'api-gateway',
  'bound-api-gateway',
  'exported-services',
  'file-system-certificate',
  'http-route',
  'ingress-gateway',
  'inline-certificate',
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

/**
 * A normalised entry in answer form, without indexes, Namespace and Status. Key order is the order
 * of the answer.
 */
export interface ConfigEntry {
  readonly Kind: Kind;
  readonly Name: string;
  readonly [field: string]: unknown;
}

export type Decoded =
  | { readonly ok: true; readonly entry: ConfigEntry }
  | { readonly ok: false; readonly refusal: Refusal };

/** One permission of a kind. 'none': no right needed, not even a token. 'never': nobody has it. */
export interface Permission {
  readonly resource: 'service' | 'intention' | 'mesh' | 'none' | 'never';
  readonly access: 'read' | 'write';
  /** The entry's name is the segment. */
  readonly named: boolean;
}

/** An entry by kind and name. */
export interface EntryId {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Looks entries of a namespace up while a change is judged: the state with the change already made.
 * Names in any case.
 */
export interface EntryLookup {
  get(kind: Kind, name: string): ConfigEntry | undefined;
  list(kind: Kind): Iterable<ConfigEntry>;
  /** The entries that name the given service, gateway or certificate (references.ts). */
  naming(target: string): Iterable<EntryId>;
}
