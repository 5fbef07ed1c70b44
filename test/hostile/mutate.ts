/** Hostile requests, created from valid ones by mutation. */
import fc from 'fast-check';
import type { Endpoint } from './endpoints.js';

/** A request as it goes over the wire. */
export interface Hostile {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'],
  ...['', ' ', '.', '..', '*', 'Bogus', 'ID', 'Name', 'Namespace', 'polluted', 'a/b', 'a~b'],
  ...['\u0000', '\n', '\u202e', '\ud800', 'é', '💥', 'x'.repeat(3000), '%00', '${', '"', '\\'],
];
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>(
    (inner, _, at) => (at % 2 ? [inner] : { a: inner }),
    1,
  );
const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 1e308, 2 ** 53 + 2, -(2 ** 63), 1e-320],
  ...['1h', '-5s', '99999999999h', '1e9', '${value.name}', '${', 'value.name ==', 'a.b.c'],
  ...['key "a" {', 'key "__proto__" { policy = "write" }', 'x'.repeat(70_000), '😀'.repeat(2000)],
  ...[
    [],
    {},
    [[]],
    [null],
    [{}],
    nested(20),
    nested(70),
    Array(300).fill({}),
    Array(2000).fill('a'),
  ],
  ...[
    'service-defaults',
    'mesh',
    'proxy-defaults',
    'jwt',
    'kubernetes',
    'role',
    'http://127.0.0.1:1',
  ],
];
const name = fc.constantFrom(...NAMES);
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 2, arbitrary: name },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

type Json = Record<string, unknown> | unknown[];
const isJson = (at: unknown): at is Json => typeof at === 'object' && at !== null;
/** Sets an own member even if its name is `__proto__`. */
const set = (object: object, key: string, to: unknown): void => {
  Object.defineProperty(object, key, {
    ...{ value: to, enumerable: true, writable: true, configurable: true },
  });
};

/** Changes one member. `steps` selects the path to it, `kind` the change. */
function change(
  of: unknown,
  steps: readonly number[],
  kind: number,
  key: string,
  to: unknown,
): unknown {
  if (!isJson(of)) return kind % 3 === 0 ? [of] : to;
  const copy = Array.isArray(of) ? [...of] : Object.assign(Object.create(null), of);
  const keys = Object.keys(copy);
  const [step, ...rest] = steps;
  if (step !== undefined && keys.length > 0) {
    const chosen = keys[step % keys.length] as string;
    if (isJson(copy[chosen]) || rest.length === 0) {
      set(copy, chosen, change(copy[chosen], rest, kind, key, to));
      return copy;
    }
  }
  const chosen = keys[kind % (keys.length || 1)] ?? key;
  switch (kind % 5) {
    case 0:
      set(copy, key, to);
      break;
    case 1:
      set(copy, chosen, to);
      break;
    case 2:
      delete copy[chosen];
      break;
    case 3:
      set(copy, chosen.toLowerCase(), copy[chosen]);
      break;
    default:
      return Array.isArray(copy) ? { 0: copy } : [copy];
  }
  return copy;
}

const mutations = fc.array(
  fc.tuple(fc.array(fc.nat(9), { maxLength: 4 }), fc.nat(99), name, value),
  { minLength: 1, maxLength: 3 },
);

/** Bodies that differ from a valid one in a few members. */
export const mutated = (body: unknown): fc.Arbitrary<unknown> =>
  mutations.map((changes) => {
    const changed = changes.reduce<unknown>(
      (of, [steps, kind, key, to]) => change(of, steps, kind, key, to),
      body,
    );
    return JSON.parse(JSON.stringify(changed) ?? 'null') as unknown;
  });

/** The changes of a body's text. */
const TEXT: readonly ((text: string, at: number) => Buffer)[] = [
  ...Array(8).fill((text: string) => Buffer.from(text)),
  (text, at) => Buffer.from(text.slice(0, at % (text.length + 1))),
  (text, at) =>
    Buffer.from(`${text.slice(0, at % text.length)}\u0000${text.slice(at % text.length)}`),
  (text) => Buffer.from(`\ufeff${text}`),
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xc0])]),
  (text) => Buffer.from(`${text}${text}`),
  (text) => Buffer.from(text.replace('{', '{"__proto__":{"polluted":true},')),
  (text) => Buffer.from(text.replace('{', '{"constructor":{"prototype":{"polluted":true}},')),
  (text) => Buffer.from(text.replaceAll('"', "'")),
  () => Buffer.alloc(0),
  () => Buffer.from('['.repeat(50_000)),
  () => Buffer.from('{"a":'.repeat(50_000)),
  () => Buffer.from('1e999'),
  () => Buffer.from('"\\ud800"'),
];
const bodyOf = ({ bodies }: Endpoint): fc.Arbitrary<Buffer | undefined> =>
  bodies.length === 0
    ? fc.constant(undefined)
    : fc
        .tuple(fc.constantFrom(...bodies), mutations, fc.constantFrom(...TEXT), fc.nat(10_000))
        .map(([body, changes, encode, at]) => {
          const changed = changes.reduce<unknown>(
            (of, [steps, kind, key, to]) => change(of, steps, kind, key, to),
            body,
          );
          return encode(JSON.stringify(changed) ?? 'null', at);
        });

const segment = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('a', 'web', 'mesh', 'service-defaults', 'builtin/service'),
  },
  { weight: 2, arbitrary: fc.constant('0f0f0f0f-1111-4222-8333-444444444444') },
  { weight: 3, arbitrary: name },
);
const encoded = (text: string): string => {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ED%A0%80';
  }
};
const RAW = ['%', '%2', '%zz', '%c3%28', '%00', '%2e%2e', '%2F%2F', '%25', '..', '//', ';', '\\'];
const PARAMETERS = [
  ...[
    'index',
    'wait',
    'ns',
    'dc',
    'partition',
    'filter',
    'cas',
    'stale',
    'consistent',
    'max_stale',
  ],
  ...[
    'policy',
    'role',
    'authmethod',
    'servicename',
    'expanded',
    'pretty',
    'id',
    'address',
    'token',
  ],
  ...['kind', 'cached', 'datacenter', 'format', 'authmethod-ns', '__proto__', 'toString'],
  ...['limit', 'sort', 'after', 'search'],
];
const parameter = fc.oneof(
  value.map((of) => (typeof of === 'string' ? of : JSON.stringify(of)).slice(0, 2000)),
  fc.constantFrom(
    '0',
    '1',
    '-1',
    '18446744073709551616',
    '1ms',
    '1d',
    '-expires',
    'bmFtZTphAGE',
    'Name == a',
    'Name matches "("',
  ),
);
const query = fc.array(
  fc.tuple(
    fc.constantFrom(...PARAMETERS),
    fc.oneof({ weight: 5, arbitrary: parameter.map(encoded) }, fc.constantFrom(...RAW)),
  ),
  { maxLength: 3 },
);
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: 'application/problem+json' },
  { accept: 'application/json, */*' },
  { 'x-service-namespace': '../../x' },
  { 'x-service-namespace': '__proto__' },
  { 'x-service-token': '' },
  { 'x-service-token': '__proto__' },
  { authorization: 'Bearer' },
  { authorization: `bearer   ${'x'.repeat(4000)}` },
  { 'cache-control': 'max-age=x' },
  { 'content-encoding': 'gzip' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'accept-encoding': 'gzip;q=0, br;q=NaN' },
  { 'x-service-partition': 'é' },
  { 'if-none-match': '*', range: 'bytes=0-1', upgrade: 'h2c' },
];

/** Requests to an endpoint that no one sends by accident. */
export const hostileTo = (endpoint: Endpoint): fc.Arbitrary<Hostile> =>
  fc
    .record({
      body: bodyOf(endpoint),
      segments: fc.array(
        fc.oneof({ weight: 6, arbitrary: segment.map(encoded) }, fc.constantFrom(...RAW)),
        { minLength: 2, maxLength: 2 },
      ),
      query,
      headers: fc.constantFrom(...HEADERS),
    })
    .map(({ body, segments, query: pairs, headers }) => {
      let at = 0;
      const path = endpoint.path.replaceAll('*', () => segments[at++] as string);
      const held = pairs.some(([key]) => key === 'index');
      // A blocking query is limited in time, so that a run is too.
      const sent = held ? [...pairs.filter(([key]) => key !== 'wait'), ['wait', '5ms']] : pairs;
      const tail = sent.map(([key, of]) => `${key}=${of}`).join('&');
      const target = tail === '' ? path : `${path}?${tail}`;
      const all = { ...endpoint.headers, ...headers };
      return { method: endpoint.method, target: target.slice(0, 8000), headers: all, body };
    });
