/** The definition of a kind: its fields, its normal form and its rules. */
import { type Fields, type Infer, keep, object, type Type, text } from './fields.js';
import type { PAUSE, Problem } from './problems.js';
import type { ConfigEntry, Kind } from './types.js';

type Head = { Kind: ReturnType<typeof keep<string>>; Name: ReturnType<typeof keep<string>> };

/** A normalised entry with the given fields. */
export type EntryOf<F extends Fields> = Infer<Head & F>;

/** A kind as index.ts uses it. */
export interface KindDefinition<T = ConfigEntry> {
  readonly kind: Kind;
  readonly type: Type<T> & { readonly fields: Fields };
  /**
   * Yields the problems of a normalised entry by itself, the most important first. Rules between
   * entries are in cross-entry-rules.ts.
   */
  validate(entry: T, context: EntryContext): Iterable<Problem | typeof PAUSE>;
  /** Whether a refusal lists all problems, not only the first. */
  readonly reportsAll: boolean;
}

/** Where an entry is written. */
export interface EntryContext {
  /** The namespace the entry is written to. */
  readonly namespace: string;
}

interface Rules<T> {
  /** Normalises the Name. Without it the Name stays as given. */
  readonly name?: (given: string) => string;
  /** Last step to the normal form, for what depends on several fields. */
  readonly normalise?: (entry: T) => T;
  readonly reportsAll?: boolean;
  readonly validate: (entry: T, context: EntryContext) => Iterable<Problem | typeof PAUSE>;
}

/** Defines a kind. The fields `Kind` and `Name` come before the given ones. */
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
  return { kind, type, validate: rules.validate, reportsAll: rules.reportsAll ?? false };
}
