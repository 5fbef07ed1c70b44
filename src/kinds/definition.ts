/** The definition of a kind: all that the server knows about it, in one place. */
import {
  always,
  type Fields,
  type Infer,
  object,
  type Rule,
  type Type,
  text,
} from '../languages/fields.js';
import { ruled } from '../languages/rules.js';
import type { Permissions } from './permissions.js';
import type { PAUSE, Problem } from './problems.js';
import type { Kind } from './types.js';

type Head = { Kind: ReturnType<typeof always<string>>; Name: ReturnType<typeof always<string>> };

/** A normalised entry with the given fields. */
export type EntryOf<F extends Fields> = Infer<Head & F>;

/** Where an entry is written. */
export interface EntryContext {
  /** The namespace the entry is written to. */
  readonly namespace: string;
}

/** What a kind declares besides its fields. */
interface Rules<T> {
  /** What its entries are for, in one sentence or two for people. */
  readonly description: string;
  /** The permission that each operation on its entries needs. */
  readonly permissions: Permissions;
  /**
   * `cluster`: its entries exist once for the whole cluster, whatever namespace a request names,
   * and belong to `default`. By default each namespace has its own.
   */
  readonly scope?: 'cluster' | 'namespace';
  /** The name of its only entry, which bodies may leave out. Empty if there may be many. */
  readonly onlyName?: string;
  /** Fields that only those see who may replace the entry. */
  readonly secrets?: readonly (keyof T & string)[];
  /** Whether the server computes a Status for its entries (gateway-status.ts). */
  readonly hasStatus?: boolean;
  /** Rules between the members of an entry, which `validate` asks. */
  readonly rules?: readonly Rule[];
  /** Whether a refusal lists all problems, not only the first. */
  readonly reportsAll?: boolean;
  /** Last step to the normal form, for what depends on several fields. */
  normalise?(entry: T): T;
  /** Checks the name of an entry to write or to delete. */
  nameProblems?(name: string): Iterable<Problem>;
  /**
   * Yields the problems of a normalised entry by itself, the most important first. Rules between
   * entries are in cross-entry-rules.ts.
   */
  validate(entry: T, context: EntryContext): Iterable<Problem | typeof PAUSE>;
  /** Removes from a valid entry what only `validate` needs. */
  stored?(entry: T): T;
  /**
   * Returns the services to which the entry forwards requests. It is then part of their discovery
   * chains, and its writer needs service:read on them.
   */
  forwardsTo?(entry: T): Iterable<string | undefined>;
  /** Returns the targets (targets.ts) that the entry names without forwarding to them. */
  names?(entry: T): Iterable<string>;
  /** Returns the jwt-providers that the entry names. Its writer needs the right to read them. */
  providers?(entry: T): Iterable<string>;
}

/** A kind. `T` is the type of its normalised entries. */
export interface KindDefinition<T, K extends Kind = Kind>
  extends Required<Omit<Rules<T>, 'normalise'>> {
  readonly kind: K;
  readonly type: Type<T> & { readonly fields: Fields };
  /** Whether its entries forward requests, so that `forwardsTo` may return any service. */
  readonly forwards: boolean;
  /** Whether `names` may return any target. */
  readonly namesOthers: boolean;
  /** Whether `providers` may return any provider. */
  readonly namesProviders: boolean;
}

/** Defines a kind. The fields `Kind` and `Name` come before the given ones. */
export function defineKind<K extends Kind, F extends Fields>(
  kind: K,
  fields: F,
  rules: Rules<EntryOf<F>>,
): KindDefinition<EntryOf<F>, K> {
  const { onlyName = '', rules: between = [] } = rules;
  const head: Head = {
    Kind: always('The kind of the entry.', text({ values: [kind], limits: { needed: true } })),
    Name: always(
      'The name of the entry. For most kinds, it is the name of a service or gateway.',
      text({ change: (given) => given || onlyName, limits: { needed: onlyName === '' } }),
    ),
  };
  return {
    kind,
    description: rules.description,
    type: ruled(object<Head & F>({ ...head, ...fields }, rules.normalise), ...between),
    permissions: rules.permissions,
    scope: rules.scope ?? 'namespace',
    onlyName,
    secrets: rules.secrets ?? [],
    hasStatus: rules.hasStatus ?? false,
    rules: between,
    reportsAll: rules.reportsAll ?? false,
    forwards: rules.forwardsTo !== undefined,
    namesOthers: rules.names !== undefined,
    namesProviders: rules.providers !== undefined,
    nameProblems: rules.nameProblems ?? (() => []),
    validate: rules.validate,
    stored: rules.stored ?? ((entry) => entry),
    forwardsTo: rules.forwardsTo ?? (() => []),
    names: rules.names ?? (() => []),
    providers: rules.providers ?? (() => []),
  };
}
