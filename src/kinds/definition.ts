/** What makes a kind: its fields, the last step to its normal form, its own rules. */
import { type Fields, type Infer, keep, object, type Type, text } from './fields.js';
import type { PAUSE, Problem } from './problems.js';
import type { ConfigEntry, Kind } from './types.js';

type Head = { Kind: ReturnType<typeof keep<string>>; Name: ReturnType<typeof keep<string>> };

/** A normalised entry with these fields. */
export type EntryOf<F extends Fields> = Infer<Head & F>;

/** One kind, as index.ts uses it. */
export interface KindDefinition<T = ConfigEntry> {
  readonly kind: Kind;
  readonly type: Type<T> & { readonly fields: Fields };
  /**
   * Everything wrong with a normalised entry by itself, the most telling first. Rules between
   * entries are in rules.ts.
   */
  validate(entry: T, context: EntryContext): Iterable<Problem | typeof PAUSE>;
  /** All faults are told together, not only the first. */
  readonly gathers: boolean;
}

export interface EntryContext {
  /** The namespace the entry is written to. */
  readonly namespace: string;
}

interface Rules<T> {
  /** The Name in normal form; as given if absent. */
  readonly name?: (given: string) => string;
  /** The last step to the normal form, where it depends on several fields. */
  readonly normalise?: (entry: T) => T;
  readonly gathers?: boolean;
  readonly validate: (entry: T, context: EntryContext) => Iterable<Problem | typeof PAUSE>;
}

/** Defines a kind. `Kind` and `Name` come before the given fields. */
export function defineKind<F extends Fields>(
  kind: Kind,
  fields: F,
  rules: Rules<EntryOf<F>>,
): KindDefinition<EntryOf<F>> {
  const head: Head = {
    Kind: keep(text({ values: [kind] })),
    Name: keep(text({ change: rules.name ?? ((given) => given) })),
  };
  const type = object<Head & F>({ ...head, ...fields }, rules.normalise);
  return { kind, type, validate: rules.validate, gathers: rules.gathers ?? false };
}
