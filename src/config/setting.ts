/** The definition of a setting, and the configuration type that follows from a list of settings. */

import type { SentSinks } from '../audit/settings.js';
import type { InitialMember } from '../node/identity.js';

/** The type of a value. As text, a list is separated by commas, a map and sinks are JSON. */
export type SettingType = 'text' | 'integer' | 'boolean' | 'list' | 'members' | 'map' | 'sinks';

/** One setting of a node. */
export interface Setting {
  readonly key: string;
  readonly type: SettingType;
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  /** One line: what it is, its unit, and the reason for the default. */
  readonly why: string;
  /**
   * Set if there is always a value although there is no default: it depends on the machine or on
   * other settings.
   */
  readonly derived?: true;
  /** Required if any setting of its group is set. */
  readonly needed?: true;
  /**
   * Never printed, and not accepted as a flag. Another setting, with `File` after the key, names a
   * file that holds it.
   */
  readonly secret?: boolean;
}

/** A member of a cluster as text: `name=host:port`. */
export const MEMBER = /^([a-zA-Z0-9][a-zA-Z0-9._-]*)=(.+:\d+)$/;

interface Values {
  text: string;
  integer: number;
  boolean: boolean;
  list: readonly string[];
  members: readonly InitialMember[];
  map: Readonly<Record<string, string>>;
  sinks: SentSinks;
}

type ValueOf<S extends Setting> = S extends { readonly choices: readonly (infer C)[] }
  ? C
  : Values[S['type']];

type Entry = readonly [rest: string, setting: Setting];
type Heads<E extends Entry> = E[0] extends infer K
  ? K extends `${infer Head}.${string}`
    ? Head
    : K
  : never;
/** The settings below a part of the key, or the setting itself if the key ends there. */
type Below<E extends Entry, H> = E extends readonly [infer K, infer S extends Setting]
  ? K extends H
    ? S
    : K extends `${H & string}.${infer Rest}`
      ? readonly [Rest, S]
      : never
  : never;
type SettingOf<B> = B extends Setting ? B : B extends readonly [string, infer S] ? S : never;
/** Whether a setting always has a value, or a group contains such a setting. */
type IsThere<B> = [Extract<SettingOf<B>, { default: unknown } | { derived: true }>] extends [never]
  ? [B] extends [{ readonly needed: true }]
    ? true
    : false
  : true;
type Value<B> = [B] extends [Setting] ? ValueOf<B> : [B] extends [Entry] ? Tree<B> : never;
type Tree<E extends Entry> = {
  readonly [H in Heads<E> as IsThere<Below<E, H>> extends true ? H & string : never]: Value<
    Below<E, H>
  >;
} & {
  readonly [H in Heads<E> as IsThere<Below<E, H>> extends true ? never : H & string]?: Value<
    Below<E, H>
  >;
};
type EntryOf<S> = S extends Setting ? readonly [S['key'], S] : never;

/**
 * The configuration type of these settings, with one member for each part of their keys. A setting
 * with a default is always present, and so is its group. `http.tls` is a group without defaults, in
 * which `cert` and `key` are required:
 *
 *     { readonly http: { readonly port: number; readonly tls?: { readonly cert: string; … } } }
 */
export type ConfigOf<S extends Setting> = Tree<EntryOf<S>>;
