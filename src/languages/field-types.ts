/** The types of the field language; see fields.ts. */

/** What a type says about its texts. */
export interface TextRules {
  /** Normalises a text, and the empty one too. */
  readonly change?: (value: string) => string;
  /** The only values, after `change`. Documented here; the kind or the use case checks them. */
  readonly values?: readonly string[];
  /** Known values among others. */
  readonly examples?: readonly string[];
  /** Maximum number of bytes of UTF-8. */
  readonly bytesMax?: number;
  /** What is documented beside it, and checked by the kind or the use case. */
  readonly limits?: {
    /** Whether the text must be given, and not be empty. */
    readonly needed?: boolean;
    /** A regular expression of JSON Schema. */
    readonly pattern?: string;
    readonly bytesMax?: number;
  };
}

/** What is documented about the numbers of a type beyond what its decoder checks. */
export interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
}

/** What is documented about a map: entries, and bytes of keys and values in UTF-8. */
export interface MapLimits {
  readonly count?: number;
  readonly key?: number;
  readonly value?: number;
  /** A regular expression of JSON Schema for the keys. */
  readonly pattern?: string;
}

/** What is documented about a list, and checked by the kind or the use case. */
export interface ListLimits {
  /** Whether the list must be given, and have an item. */
  readonly needed?: true;
  /** The fewest items of a list that is given. */
  readonly min?: number;
  readonly max?: number;
  /** Whether equal items are refused. Of objects, fewer members may have to be equal. */
  readonly unique?: true;
  /** Whether an item may stand for a list of one. */
  readonly single?: true;
}

/** A condition on the members of an object as data; see rules.ts. */
export type Condition =
  | { readonly is: 'set'; readonly member: string }
  | { readonly is: 'among'; readonly member: string; readonly values: readonly string[] }
  | { readonly is: 'like'; readonly member: string; readonly pattern: string }
  | { readonly is: 'inside' | 'every'; readonly member: string; readonly of: Condition }
  | { readonly is: 'all' | 'any' | 'one'; readonly of: readonly Condition[] }
  | { readonly is: 'not'; readonly of: Condition };

/** A rule between the members of an object; see rules.ts. */
export interface Rule {
  /** The rule in a sentence for people. */
  readonly description: string;
  readonly condition: Condition;
  /** Whether a decoded object obeys the rule. */
  holds(value: object): boolean;
}

/** A type as data. */
export type Description =
  | ({ readonly is: 'text' } & TextRules)
  | {
      readonly is: 'whole';
      readonly min: number;
      readonly max: number;
      readonly limits?: NumberLimits;
    }
  | { readonly is: 'fraction' | 'boolean' | 'time' | 'any' }
  | {
      readonly is: 'free';
      /** Members whose texts have a maximum number of characters, which the kind checks. */
      readonly lengths?: Readonly<Record<string, number>>;
      /** Of what its members are, if that follows from it, or from the object that holds it. */
      readonly shapeOf?: (
        value: Readonly<Record<string, unknown>>,
        holder: Readonly<Record<string, unknown>>,
      ) => Description | undefined;
    }
  | {
      readonly is: 'duration';
      readonly out: 'nanoseconds' | 'text';
      readonly mayBeEmpty?: true;
      /** Documented, and checked by the kind. */
      readonly isPositive?: true;
    }
  | {
      readonly is: 'object';
      readonly fields: Fields;
      readonly nullable: boolean;
      readonly rules?: readonly Rule[];
    }
  | { readonly is: 'list'; readonly of: Type<unknown>; readonly limits?: ListLimits }
  | { readonly is: 'map'; readonly of: Type<unknown>; readonly limits?: MapLimits }
  | { readonly is: 'links'; readonly to: string; readonly of?: Type<unknown> }
  | { readonly is: 'foreign'; readonly sentence: string };

/**
 * A type of the field language: how to decode and normalise a value. `S` is the value as it is
 * decoded from a body, where that differs from the stored one.
 */
export interface Type<T, S = T> {
  readonly description: Description;
  /**
   * The type of a value that the server computes. Bodies may contain anything in its place, which
   * is not looked at.
   */
  readonly computed?: Type<T>;
  /** Returns the normal form of an absent value, a new one each time: the caller may change it. */
  zero(): T;
  /** Whether `nonEmpty` leaves the value out. */
  isEmpty(value: T): boolean;
  /** Normalises a value parsed from JSON. Problems go to the report, which may throw. */
  decode(input: unknown, report: Report): S;
}

/** A step into a body: a member by name, a list item by position or a map entry by key. */
export type PathPart = string | number | { readonly entry: string };

/** What is wrong with a value. */
export type Fault =
  | { readonly is: 'type'; readonly expected: Description; readonly input: unknown }
  | { readonly is: 'duration'; readonly message: string }
  | {
      readonly is: 'size';
      readonly of: 'items' | 'entries' | 'pairs' | 'bytes';
      readonly count: number;
      readonly max: number;
    };

/** The members that an object may have. `spellings` maps every accepted spelling to its name. */
export interface Members {
  readonly names: readonly string[];
  readonly spellings: ReadonlyMap<string, string>;
}

/** Receives the problems of a body while it is decoded, and tracks the position of the decoder. */
export interface Report {
  /** The nesting depth of the decoder. */
  readonly depth: number;
  /** The position of the decoder as messages show it. */
  readonly place: string;
  /** Runs `body` one level deeper. */
  within<T>(part: PathPart, body: () => T): T;
  /** Reports a fault of the value at the present position, in the words of the API. */
  fault(fault: Fault): void;
  /** Reports a problem in a sentence of its own. */
  add(sentence: string): void;
  /**
   * Calls `take` with each given member of an object that is not null: name, key as it is spelled,
   * and value, in the order in which to decode them. Reports unknown members.
   */
  members(
    input: Record<string, unknown>,
    known: Members,
    take: (name: string, key: string, value: unknown) => void,
  ): void;
}

/** When answers contain a member; see the head of this file. */
export type Mode = 'nonEmpty' | 'always' | 'ifSent' | 'never';
/** A member of an object: its type, mode and spellings. */
export interface Field<T = unknown, M extends Mode = Mode, S = T> {
  /** What the member is, in one sentence or two for people. */
  readonly description: string;
  readonly type: Type<T, S>;
  readonly mode: M;
  /** Spellings besides the name itself. Undefined stands for the name in lower case. */
  readonly spellings?: readonly string[];
}
/** The members of an object by name. */
// biome-ignore lint/suspicious/noExplicitAny: the bound that keeps each member's own type
export type Fields = Readonly<Record<string, Field<any, Mode, unknown>>>;

type Named<F extends Fields, M extends Mode> = {
  [K in keyof F]: F[K] extends Field<unknown, infer N, unknown> ? (N extends M ? K : never) : never;
}[keyof F];
type ValueOf<F> = F extends Field<infer T, Mode, unknown> ? T : never;
type SentOf<F> = F extends Field<unknown, Mode, infer S> ? S : never;
/** The normalised value of an object with these fields. */
export type Infer<F extends Fields> = {
  [K in Named<F, 'always'>]: ValueOf<F[K]>;
} & { [K in Named<F, 'nonEmpty' | 'ifSent'>]?: ValueOf<F[K]> };
/** A body with these fields: each is there only if it was given. */
export type Sent<F extends Fields> = { readonly [K in keyof F]?: SentOf<F[K]> };
/** The normalised value of a type. */
export type Normal<T> = T extends Type<infer V, unknown> ? V : never;
