/** The OpenAPI document (3.1), made from the operations and the declarations of fields. */

import { allOperations } from '../endpoints/endpoints.js';
import { type Answer, type Content, type Operation, TAGS } from '../endpoints/operation.js';
import {
  COMMON,
  CONSISTENCY,
  PATH,
  type Parameter,
  QUERY,
  SENT_HEADERS,
} from '../endpoints/parameters.js';
import { components } from './components.js';
import { objectSchema, PARTITION, schemaOf } from './json-schema.js';
import { below, type Form, type JsonSchema } from './text-schema.js';

type Tree = Record<string, unknown>;

const DIALECT = 'https://spec.openapis.org/oas/3.1/dialect/base';

/** Statuses of errors with their components. */
const ERRORS: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['Invalid', 'The request is not valid.'],
  401: ['Unauthenticated', 'The login, or the token of a logout, is refused.'],
  403: ['Forbidden', 'The token is unknown or lacks a required right.'],
  404: ['NotFound', 'There is no such object.'],
  409: ['Conflict', 'The request conflicts with the current state.'],
  415: ['UnsupportedMediaType', 'The Content-Type is not supported.'],
  412: ['PreconditionFailed', 'The version of the object differs from the one in If-Match.'],
  413: ['TooLarge', 'The body is larger than the node accepts.'],
  429: ['TooMany', 'A limit is exceeded. The client may retry in a second.'],
  500: ['Internal', 'An internal error. The log of the server has more details.'],
  503: ['Unavailable', 'There is no leader, or the node cannot serve. Nothing was written.'],
  504: ['OutcomeUnknown', 'The outcome is unknown: the write may or may not happen.'],
  507: ['NoSpace', 'The disk of the leader is full. Reads and deletions still work.'],
};
/** The statuses that every request can be refused with, and more by what the operation does. */
const BASE = [400, 403, 429, 500];
const BY_DEED = { open: [], read: [413, 503], write: [409, 413, 503, 504, 507] } as const;

const text: JsonSchema = { type: 'string' };
const HEADERS: Readonly<
  Record<string, { description: string; schema: JsonSchema; required?: true }>
> = {
  'X-Consul-Index': {
    description: 'The index of the answer, for the next blocking query.',
    schema: { type: 'string', pattern: '^\\d+$' },
    required: true,
  },
  'X-Consul-KnownLeader': {
    description: 'Whether the node knew a leader.',
    schema: { type: 'string', enum: ['true', 'false'] },
    required: true,
  },
  'X-Consul-LastContact': {
    description: 'Milliseconds since the node heard from the leader.',
    schema: { type: 'string', pattern: '^\\d+$' },
    required: true,
  },
  'X-Consul-Results-Filtered-By-ACLs': {
    description: 'true if items that the caller may not read were left out.',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: { description: 'The version of the content.', schema: text, required: true },
  'X-Consul-Owner': { description: 'The owner of the written object.', schema: text },
  'X-Consul-Total': { description: 'The number of items of the whole list.', schema: text },
  'X-Consul-Next': {
    description: 'The parameter after of the next page, if there is one.',
    schema: text,
  },
  'X-Consul-Expires-In-Ms': {
    description: 'Milliseconds until the token expires, if it does.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'X-Consul-Lint': { description: 'What lint finds in the written object.', schema: text },
  'X-Consul-Decision': {
    description: 'The ID under which the refusal is explained.',
    schema: text,
  },
  'Retry-After': { description: 'The number of seconds after which to retry.', schema: text },
};
const HEADER_GROUPS = {
  index: [
    'X-Consul-Index',
    'X-Consul-KnownLeader',
    'X-Consul-LastContact',
    'X-Consul-Results-Filtered-By-ACLs',
  ],
  page: ['X-Consul-Total', 'X-Consul-Next'],
  etag: ['ETag'],
  expiry: ['X-Consul-Expires-In-Ms'],
  lint: ['X-Consul-Lint'],
  owner: ['X-Consul-Owner'],
} as const;

/** Returns the document. `version` is that of the release. */
export function openApi(version: string): Tree {
  const operations = allOperations();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Conclave',
      version,
      summary: 'Access control and central configuration, replicated.',
      description:
        'Request and response headers also have a second name, with the prefix of the server ' +
        '(X-Service) instead of X-Consul.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: DIALECT,
    servers: [{ url: '/' }],
    security: [{}, { token: [] }, { bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(
      Object.entries(operations).map(([path, methods]) => [
        template(path),
        Object.fromEntries(
          Object.entries(methods).map(([method, operation]) => [
            method.toLowerCase(),
            operationOf(path, method, operation),
          ]),
        ),
      ]),
    ),
    components: {
      schemas: components(),
      parameters: { ...parametersIn('query', QUERY), ...parametersIn('header', SENT_HEADERS) },
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, [name, description]]) => [
          name,
          errorOf(status, description),
        ]),
      ),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, { description, schema, required }]) => [
          name,
          { description, ...(required && { required }), schema },
        ]),
      ),
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-Consul-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

const FLAG = { allowEmptyValue: true };

const parametersIn = (place: string, all: Readonly<Record<string, Parameter>>): Tree =>
  Object.fromEntries(
    Object.entries(all).map(([name, { description, schema, isFlag }]) => [
      name,
      { name, in: place, description, ...(isFlag && FLAG), schema },
    ]),
  );

/** A path as the document writes it: `/v1/config/{kind}`. */
const template = (path: string): string => path.replace(/:(\w+)/g, '{$1}');
const placeOf = (path: string, method: string): Form =>
  below({ of: 'sent', at: '#' }, 'paths', template(path), method.toLowerCase());

function operationOf(path: string, method: string, operation: Operation): Tree {
  const {
    id,
    tag,
    description,
    does,
    query = [],
    headers = [],
    body,
    rights,
    blocks,
    level,
  } = operation;
  const consistency = does === 'read' && method !== 'PUT' ? CONSISTENCY : [];
  const names = [...COMMON, ...consistency, ...query, ...headers];
  return {
    operationId: id,
    tags: [tag],
    summary: description,
    parameters: [
      ...pathParameters(path),
      ...names.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(body && { requestBody: bodyOf(operation, body, placeOf(path, method)) }),
    responses: responsesOf(operation),
    ...(rights && { 'x-rights': rights }),
    ...(blocks && { 'x-blocks': true }),
    ...(level && { 'x-level': level }),
  };
}

function pathParameters(path: string): Tree[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const last = path.endsWith(`:${names.at(-1)}`) ? names.at(-1) : undefined;
  return names.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: PATH[name],
    schema: { type: 'string' },
    ...(name === last && { 'x-takes-slashes': true }),
  }));
}

function bodyOf(operation: Operation, content: Content, at: Form): Tree {
  const { bodyMedia: media = 'application/json', isBodyOptional } = operation;
  const form = below(at, 'requestBody', 'content', media, 'schema');
  return {
    ...(isBodyOptional ? {} : { required: true }),
    content: { [media]: { schema: contentSchema(content, form) } },
  };
}

function contentSchema(content: Content, form: Form): JsonSchema {
  if (typeof content === 'string') return { $ref: `#/components/schemas/${content}` };
  if ('schema' in content) return content.schema;
  if ('decode' in content) return schemaOf(content, form);
  return objectSchema({ fields: content.members }, form, { Partition: PARTITION });
}

function responsesOf({ answers, body, does, refuses = [] }: Operation): Tree {
  const deeds = BY_DEED[does].filter((status) => status !== 413 || body !== undefined);
  const errors = [...new Set([...BASE, ...deeds, ...refuses])].sort((a, b) => a - b);
  const responses: Tree = {};
  for (const [status, answer] of Object.entries(answers)) responses[status] = answerOf(answer);
  const isIndexed = Object.values(answers).some(({ headers }) => headers?.includes('index'));
  for (const status of errors) {
    const [name, description] = ERRORS[status]!;
    if (status === 404 && isIndexed) {
      responses[status] = {
        ...errorOf('404', description),
        headers: headersOf(HEADER_GROUPS.index),
      };
      continue;
    }
    const own = responses[status] as { readonly content: Tree } | undefined;
    responses[status] =
      own === undefined
        ? { $ref: `#/components/responses/${name}` }
        : { ...own, content: { ...own.content, ...errorOf(String(status), description).content } };
  }
  return responses;
}

function answerOf({
  description,
  content,
  media = 'application/json',
  text: orText,
  headers,
}: Answer): Tree {
  const schema = content && contentSchema(content, { of: 'answered', at: '#' });
  const names = (headers ?? []).flatMap((group) => HEADER_GROUPS[group]);
  const isEmpty = content === undefined && media.startsWith('text/');
  const body = {
    ...(content === undefined && media === 'application/json'
      ? {}
      : { [bare(media)]: schema ? { schema } : {} }),
    ...(orText && { 'text/plain': { schema: text } }),
  };
  return {
    description,
    ...(names.length > 0 && { headers: headersOf(names) }),
    ...(Object.keys(body).length > 0 && {
      content: isEmpty ? { 'text/plain': { schema: { const: '' } } } : body,
    }),
  };
}

const bare = (media: string): string => media.split(';', 1)[0]!;

const headersOf = (names: readonly string[]): Tree =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

function errorOf(status: string, description: string): { readonly content: Tree } & Tree {
  const names = [
    ...(['403', '401', '413', '429'].includes(status) ? ['X-Consul-Decision'] : []),
    ...(['429', '503'].includes(status) ? ['Retry-After'] : []),
  ];
  return {
    description,
    ...(names.length > 0 && { headers: headersOf(names) }),
    content: {
      'text/plain': { schema: text },
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  };
}
