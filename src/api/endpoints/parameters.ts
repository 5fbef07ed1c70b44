/** The parameters of requests, each with its sentence. */
import type { JsonSchema } from '../document/text-schema.js';

/** What is declared about a parameter. */
export interface Parameter {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Whether its presence alone counts. */
  readonly isFlag?: true;
}

const text: JsonSchema = { type: 'string' };
const index: JsonSchema = { type: 'string', pattern: '^\\d+$' };
const flag: JsonSchema = { type: 'string' };

/** Query parameters by name. */
export const QUERY = {
  dc: { description: 'The datacenter. Only that of the cluster is accepted.', schema: text },
  ns: {
    description: 'The namespace of the request. In lists, `*` means all namespaces.',
    schema: text,
  },
  partition: { description: 'The admin partition. Only default is supported.', schema: text },
  pretty: { description: 'Indents the response.', schema: flag, isFlag: true },
  stale: {
    description: 'Reads the state of this node as it is, without contacting a leader.',
    schema: flag,
    isFlag: true,
  },
  consistent: {
    description: 'Reads everything that was written before, regardless of clocks.',
    schema: flag,
    isFlag: true,
  },
  max_stale: {
    description: 'How old a stale response may be. Any value above 0 implies stale.',
    schema: text,
  },
  index: {
    description: 'Waits until the response has a greater index than this one.',
    schema: index,
  },
  wait: { description: 'How long to wait, such as 30s. At most 10m.', schema: text },
  filter: { description: 'An expression that items of the list must match.', schema: text },
  cas: {
    description: 'The ModifyIndex that the stored version must have, or 0 if there must be none.',
    schema: index,
  },
  policy: {
    description: 'The ID of a policy. Only objects that link to it are listed.',
    schema: text,
  },
  role: { description: 'The ID of a role. Only objects that link to it are listed.', schema: text },
  authmethod: {
    description: 'An auth method. Only objects that belong to it are listed.',
    schema: text,
  },
  'authmethod-ns': { description: 'The namespace of the auth method.', schema: text },
  servicename: {
    description: 'A service. Only tokens with its identity are listed.',
    schema: text,
  },
  expanded: { description: 'Adds the policies and roles that apply.', schema: flag, isFlag: true },
  severity: {
    description: 'The minimum severity of the findings.',
    schema: { type: 'string', enum: ['error', 'warning', 'info'], default: 'warning' },
  },
  reasons: { description: 'all: allowed accesses are explained too.', schema: text },
  id: { description: 'The ID of a server.', schema: text },
  address: { description: 'The address of a server.', schema: text },
  ttl: {
    description: 'How long the join token lasts, from 1s to 24h. By default 15m.',
    schema: text,
  },
  owner: { description: 'Only objects of this owner are exported.', schema: text },
  kind: {
    description: 'The kinds of config entries to export, separated by commas.',
    schema: text,
  },
  partial: {
    description: 'Leaves out objects of which nothing from then is kept: true or false.',
    schema: text,
  },
  ids: {
    description: 'Exports the IDs of policies, roles and rules too: true or false.',
    schema: text,
  },
  after: {
    description:
      'Lists what comes after this: the header Next of the page before, or the ID or name of ' +
      'its last item; for changes an index, the oldest first.',
    schema: text,
  },
  before: {
    description: 'Only versions before this index, or audit records before the one with this ID.',
    schema: text,
  },
  limit: {
    description:
      'The maximum number of items, from 1 to 1000. Changes after an index go on to the end of ' +
      'their last entry.',
    schema: index,
  },
  sort: {
    description:
      'What a list is sorted by: name (of a token or rule: its description), created, modified ' +
      'or expires; "-" before it reverses the order.',
    schema: { type: 'string', pattern: '^-?(name|created|modified|expires)$', default: 'name' },
  },
  search: {
    description: 'Words that each item of the list must contain, in any letter case.',
    schema: text,
  },
  source: { description: 'Where tokens were imported from, such as dc1.', schema: text },
  types: { description: 'The types of objects, separated by commas.', schema: text },
  'unused-for': {
    description: 'Only tokens that were not used for this long, such as 720h.',
    schema: text,
  },
  topics: {
    description:
      'The topics, separated by commas, each with or without a key: ACLPolicy:ops,ConfigEntry.',
    schema: text,
  },
  payload: {
    description: 'Whether events contain the objects.',
    schema: { type: 'string', enum: ['full', 'none'], default: 'full' },
  },
  author: { description: 'The AccessorID of the author.', schema: text },
  subject: {
    description: 'The identity behind the tokens, or the author: METHOD/SUBJECT.',
    schema: text,
  },
  logins: {
    description: 'Whether the tokens of logins are listed too.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  version: { description: 'The index of a version, to read its content.', schema: index },
  from: { description: 'The index of the older version to compare.', schema: index },
  to: { description: 'The index of the newer version. By default the present one.', schema: index },
  sources: {
    description: 'Whether each rule says where it comes from.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  at: {
    description: 'The index or the time (RFC 3339) of the state that the answer is about.',
    schema: text,
  },
  format: {
    description: 'The format: prometheus for the Prometheus text format, otherwise JSON.',
    schema: { type: 'string', examples: ['prometheus'] },
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export type QueryName = keyof typeof QUERY;

/** Headers of requests that few endpoints take, by name. */
export const SENT_HEADERS = {
  'Last-Event-ID': {
    description:
      'The id of the last event that was received: the next is sent first. Overrides index.',
    schema: index,
  },
} as const satisfies Readonly<Record<string, Parameter>>;

export type SentHeader = keyof typeof SENT_HEADERS;

/** Query parameters of lists that have pages. */
export const PAGES = ['search', 'sort', 'limit', 'after'] as const satisfies QueryName[];

/** Query parameters that every endpoint takes. */
export const COMMON = ['dc', 'ns', 'partition', 'pretty'] as const satisfies QueryName[];
/** Those of reads that may be stale or consistent. */
export const CONSISTENCY = ['stale', 'consistent', 'max_stale'] as const satisfies QueryName[];

/** Those of reads that block. */
export const BLOCKING = ['index', 'wait'] as const satisfies QueryName[];

/** Parameters of paths by name. */
export const PATH: Readonly<Record<string, string>> = {
  accessor: 'The AccessorID of the token.',
  id: 'The ID.',
  kind: 'The kind of config entries.',
  name: 'The name.',
  service: 'The name of the service.',
  type: 'The type of the object, or the name of the schema.',
};
