/** What a setting is, and the type that a list of settings makes. */

/** How a value is given: a list with commas, a map as JSON. */
export type SettingType = 'text' | 'integer' | 'boolean' | 'list' | 'members' | 'map';

/** One setting of a node. */
export interface Setting {
  readonly key: string;
  readonly type: SettingType;
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  readonly pattern?: string;
  /** One line: what it is, its unit, and why the default is what it is. */
  readonly why: string;
  /**
   * It has a value although it has no default: one that depends on the machine or on other
   * settings.
   */
  readonly derived?: true;
  /** Needed where any setting of its group is set. */
  readonly needed?: true;
  /**
   * Never printed, and not taken as a flag. A setting with `File` after its key names a file that
   * holds it.
   */
  readonly secret?: boolean;
}

/** A member of a cluster, given as `name=host:port`. */
export interface MemberSetting {
  readonly name: string;
  readonly address: string;
}

interface Values {
  text: string;
  integer: number;
  boolean: boolean;
  list: readonly string[];
  members: readonly MemberSetting[];
  map: Readonly<Record<string, string>>;
}

type ValueOf<S extends Setting> = S extends { readonly choices: readonly (infer C)[] }
  ? C
  : Values[S['type']];

/** What is left of a key, and its setting. */
type Entry = readonly [rest: string, setting: Setting];
type Heads<E extends Entry> = E[0] extends infer K
  ? K extends `${infer Head}.${string}`
    ? Head
    : K
  : never;
/** The settings below a part of the key; the setting itself where the key ends. */
type Below<E extends Entry, H> = E extends readonly [infer K, infer S extends Setting]
  ? K extends H
    ? S
    : K extends `${H & string}.${infer Rest}`
      ? readonly [Rest, S]
      : never
  : never;
type SettingOf<B> = B extends Setting ? B : B extends readonly [string, infer S] ? S : never;
/** Whether a value is always there: of a setting, or of a group with one that has. */
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
 * The configuration that these settings make: one member for each part of their keys. A setting with
 * a default is always there, and so is its group; `http.tls` is a group without one, in which `cert`
 * and `key` are needed:
 *
 *     { readonly http: { readonly port: number; readonly tls?: { readonly cert: string; … } } }
 */
export type ConfigOf<S extends Setting> = Tree<EntryOf<S>>;
