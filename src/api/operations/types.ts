/** What is declared about an endpoint: see operations.ts. */
import type { Fields, Type } from '../../languages/fields.js';
import type { JsonSchema } from '../document/text-schema.js';
import type { QueryName } from './parameters.js';

/** The methods that routes serve. */
export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** The sections of the API. */
export const TAGS = {
  config: 'Config entries and the discovery chains that they form.',
  acl: 'Tokens, policies, roles, auth methods, binding rules and namespaces.',
  explain: 'Why something is allowed or denied, and what lint finds.',
  login: 'Login, logout and bootstrap.',
  operator: 'Members of the cluster, and cluster-wide settings.',
  agent: 'What a node reports about itself and the cluster.',
  documents: 'Descriptions of this API.',
} as const;

/** A schema in `components`, by its name. */
export interface Named {
  readonly ref: string;
}
/**
 * What a body or an answer holds: a component, a declaration, the members of a body that may name a
 * partition beside them, or a schema.
 */
export type Content =
  | Named
  | { readonly type: Type<unknown, unknown> }
  | { readonly members: Fields }
  | { readonly schema: JsonSchema };

/** The headers of an answer beside those of all answers. */
export type HeaderGroup = 'index' | 'etag' | 'lint';

/** An answer that is not an error. Without content it has no body. */
export interface Answer {
  readonly says: string;
  readonly content?: Content;
  /** The media type; absent: `application/json`. */
  readonly media?: string;
  /** Whether it may be plain text instead. */
  readonly text?: true;
  readonly headers?: readonly HeaderGroup[];
}

/** The body of a request. */
export interface Body {
  readonly content: Content;
  /** Whether the request may come without it. */
  readonly optional?: true;
  /** The media type; absent: `application/json`. */
  readonly media?: string;
}

/** What an endpoint does, takes and answers. */
export interface Operation {
  /** Unique and stable. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly says: string;
  /**
   * What it can be refused for beside what every request can: `open` answers without a leader,
   * `read` needs one, `write` changes the state.
   */
  readonly does: 'open' | 'read' | 'write';
  /** Its query parameters beside those of all endpoints. */
  readonly query?: readonly QueryName[];
  readonly body?: Body;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Further statuses of errors. */
  readonly refuses?: readonly number[];
  readonly rights?: readonly string[];
  /** Whether it answers a blocking query. */
  readonly blocks?: true;
}

/** The operations of paths by method. */
export type Operations = Readonly<Record<string, { readonly [M in Method]?: Operation }>>;
