/** What is read of a source, and through what (moving-in.md 2 and 3). */
import type { SetItem } from '../../api/endpoints/sets.js';
import type { Finding } from '../../api/migration-report.js';

/** An object as the source shows it. */
export type Shown = Readonly<Record<string, unknown>>;

/** An answer of the source, whatever its status. */
export interface SourceAnswer {
  readonly status: number;
  readonly text: string;
  /** Returns a header, by its name in lower case. */
  header(name: string): string | undefined;
}

/**
 * The way to a source: `path` begins with `/v1/`, and names are encoded in it. It carries the token
 * and tries the addresses in turn. It rejects if no answer arrives.
 */
export interface SourceConnection {
  get(path: string, query?: Readonly<Record<string, string>>): Promise<SourceAnswer>;
}

/** The clock of a reading. It may be that of a test. */
export interface SourceClock {
  /** A monotonic time in milliseconds. */
  nowMs(): number;
  /** Rejects when the command is interrupted. */
  sleep(ms: number): Promise<void>;
}

/** The types of objects that are moved. */
export const OBJECT_TYPES = [
  'policy',
  'role',
  'namespace',
  'auth-method',
  'binding-rule',
  'token',
  'config',
] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

/** How a source is read. */
export interface ReadOptions {
  readonly clock: SourceClock;
  /** Requests a second, at most. */
  readonly rate: number;
  /** The namespaces to read; `all`: those that the source shows; `none`: `default` alone. */
  readonly namespaces: 'all' | 'none' | readonly string[];
  /** The types to read. Absent: all. */
  readonly only?: readonly ObjectType[];
  /** The kinds to read. Absent: all. */
  readonly kinds?: readonly string[];
  /** Whether the local tokens of a secondary datacenter are asked for. */
  readonly fromSecondary?: boolean;
  /** Whether a source that still moves is taken as it was read: the next reading goes on. */
  readonly mayMove?: boolean;
  /** An earlier reading: what has the same ModifyIndex is not read again. */
  readonly before?: SourceState;
  /** Texts of policies by ID that may be those of the source. What its Hash proves is not read. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** The source about itself. What its token may not see is absent. */
export interface SourceInfo {
  readonly Version?: string;
  readonly Datacenter?: string;
  readonly DefaultPolicy?: 'allow' | 'deny';
  /** The index of each list, by its path: `acl/policies`, `config/mesh`, with `?ns=` elsewhere. */
  readonly Indexes: Readonly<Record<string, number>>;
  /** Whether it is a cluster of this server. */
  readonly isOurs: boolean;
  readonly hasNamespaces: boolean;
}

/**
 * Everything that was read, as the source shows it, complete (policies with Rules, auth methods
 * with Config). Each object has a Namespace. It holds secrets: it is never printed.
 */
export interface SourceState {
  readonly info: SourceInfo;
  readonly namespaces: readonly Shown[];
  readonly policies: readonly Shown[];
  readonly roles: readonly Shown[];
  readonly authMethods: readonly Shown[];
  readonly bindingRules: readonly Shown[];
  readonly tokens: readonly Shown[];
  readonly entries: readonly Shown[];
  readonly findings: readonly Finding[];
}

/** Why a source cannot be read. Its message is a sentence for people. */
export class SourceError extends Error {
  readonly hint: string | undefined;
  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** An item of a set (beyond.md 2.5). */
export type MovedItem = SetItem<ObjectType>;

/** The objects of one step, in the order in which they are written. */
export interface Part {
  readonly step: ObjectType;
  readonly items: readonly MovedItem[];
}

/** One of `Tokens` of an import (moving-in.md 1.1). It holds a secret: it is never printed. */
export interface TokenImport {
  readonly AccessorID: string;
  readonly SecretID: string;
  readonly Namespace: string;
  readonly [member: string]: unknown;
}

/** A refusal of the target's plan, which leaves the object out. */
export interface Refused {
  readonly Ref: string;
  readonly Message: string;
  readonly Pointer?: string;
}

/** How objects are converted. */
export interface ConvertOptions {
  /** The time by which tokens are over. */
  readonly now: Date;
  /** Whether tokens are moved, with their secrets. */
  readonly withSecrets: boolean;
  /** Whether tokens of logins are moved too. */
  readonly loginTokens: boolean;
  /** Returns a new secret for a token whose own is not shown, the same each time. */
  readonly newSecret?: (accessor: string) => string;
  /** Whether mended texts and entries are written. */
  readonly mend: boolean;
  /** Returns the mended text of rules of a namespace; undefined if there is none that is proved. */
  readonly mendRules?: (rules: string, namespace: string) => string | undefined;
  /** Whether the target has auth methods of type oidc. */
  readonly oidc: boolean;
  /** The IDs that objects of the source have at the target, where those differ. */
  readonly otherIds?: ReadonlyMap<string, string>;
  /** What the target's plan refused. */
  readonly refused?: readonly Refused[];
}

/** What is to be written. */
export interface Converted {
  readonly parts: readonly Part[];
  readonly tokens: readonly TokenImport[];
  readonly findings: readonly Finding[];
}
