/** What is declared about an endpoint: see endpoints.ts. */
import { boolean, type Fields, type Type } from '../../languages/fields.js';
import type { JsonSchema } from '../document/text-schema.js';
import { BLOCKING, type QueryName, type SentHeader } from './parameters.js';

/** The methods that routes serve. */
export type Method = 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';

/** The sections of the API. */
export const TAGS = {
  config: 'Config entries and the discovery chains that they form.',
  acl: 'Tokens, policies, roles, auth methods, binding rules and namespaces.',
  explain: 'Why something is allowed or denied, and what lint finds.',
  change: 'Before a change: references, validation, and objects as a set.',
  sets: 'Sets of objects, which are planned and applied together.',
  Decisions: 'Decisions for other programs, by the Authorization API 1.0 (AuthZEN).',
  login: 'Login, logout and bootstrap.',
  history: 'Who changed what, when and why, and how to take it back.',
  operator: 'Members of the cluster, and cluster-wide settings.',
  agent: 'What a node reports about itself and the cluster.',
  documents: 'Descriptions of this API.',
} as const;

/**
 * What a body or an answer holds: the name of a component, a declaration, the members of a body
 * that may name a partition beside them, or a schema.
 */
export type Content =
  | string
  | Type<unknown, unknown>
  | { readonly members: Fields }
  | { readonly schema: JsonSchema };

/** The headers of an answer beside those of all answers. */
export type HeaderGroup = 'index' | 'page' | 'etag' | 'expiry' | 'lint' | 'owner';

/** An answer that is not an error. Without content it has no body. */
export interface Answer {
  readonly description: string;
  readonly content?: Content;
  /** The media type; absent: `application/json`. */
  readonly media?: string;
  /** Whether it may be plain text instead. */
  readonly text?: true;
  readonly headers?: readonly HeaderGroup[];
}

/** What an endpoint does, takes and answers. */
export interface Operation {
  /** Unique and stable. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly description: string;
  /**
   * What it can be refused for beside what every request can: `open` answers without a leader,
   * `read` needs one, `write` changes the state.
   */
  readonly does: 'open' | 'read' | 'write';
  /** Its query parameters beside those of all endpoints. Those of blocking queries are added. */
  readonly query?: readonly QueryName[];
  /** The headers that it takes beside those of all endpoints. */
  readonly headers?: readonly SentHeader[];
  readonly body?: Content;
  /** Whether the request may come without its body. */
  readonly isBodyOptional?: true;
  /** The media type of the body; absent: `application/json`. */
  readonly bodyMedia?: string;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Further statuses of errors. */
  readonly refuses?: readonly number[];
  readonly rights?: readonly string[];
  /** Whether it answers a blocking query. */
  readonly blocks?: true;
  /** The level that the cluster needs to do it, else 503. */
  readonly level?: number;
}

/** Operations by method and path: `GET /v1/status/leader`. */
export type Operations = Readonly<
  Record<`${Method} /${'v1' | 'access/v1' | '.well-known'}/${string}`, Operation>
>;

/** An operation without what its declaration has elsewhere. */
type Rest = Omit<Operation, 'id' | 'tag' | 'does'> & Partial<Pick<Operation, 'tag'>>;

const declared =
  (does: Operation['does']) =>
  (id: string, { query = [], ...rest }: Rest) => {
    const names = rest.blocks ? [...BLOCKING, ...query] : query;
    return { id, does, ...rest, ...(names.length > 0 && { query: names }) };
  };
/** Declares an operation that answers without a leader. */
export const open = declared('open');
/** Declares one that reads. */
export const read = declared('read');
/** Declares one that writes. */
export const write = declared('write');

/** Puts operations into a section, but for those that name another. */
export const tagged = <K extends keyof Operations>(
  tag: Operation['tag'],
  operations: Readonly<Record<K, ReturnType<typeof read>>>,
): Readonly<Record<K, Operation>> =>
  Object.fromEntries(
    Object.entries<ReturnType<typeof read>>(operations).map(([key, one]) => [key, { tag, ...one }]),
  ) as Record<K, Operation>;

/** The answers of an operation that has one. */
export const ok = (
  description: string,
  content: Content,
  ...headers: readonly HeaderGroup[]
): Operation['answers'] => ({ 200: { description, content, headers } });

/** A JSON Merge Patch: the fields that change, null for those that go. */
export const PATCH_SCHEMA: JsonSchema = { type: 'object' };

/** The answer of a deletion. */
export const DELETED = ok('Whether there was one.', boolean);
/** An empty answer. */
export const DONE: Operation['answers'] = {
  200: { description: 'The operation succeeded.', media: 'text/plain; charset=utf-8' },
};
