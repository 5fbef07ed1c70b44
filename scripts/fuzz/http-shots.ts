/**
 * Shots at the API: whole requests, valid ones and mutations of them, framed in every way that HTTP
 * allows, and some that it does not.
 */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { Random } from '../../cluster/checker/random.js';
import { type Hostile, hostileTo } from '../../test/hostile/mutate.js';
import { type Fuzzed, labelOf } from './endpoints.js';
import type { Reply, Shot } from './shot.js';

export interface Tokens {
  /** Has every permission. */
  readonly management: string;
  /** May read a little. */
  readonly weak: string;
}

export interface HttpPlan {
  readonly endpoints: readonly Fuzzed[];
  readonly hosts: readonly string[];
  readonly tokens: Tokens;
  /**
   * The body for an endpoint whose valid bodies depend on the running cluster; undefined for the
   * others.
   */
  readonly bodyFor: (endpoint: Fuzzed, random: Random) => Buffer | undefined;
}

/** The number of mutations of one endpoint that are generated at a time. */
const BATCH = 20;
const TRANSFER = 'POST /v1/operator/raft/transfer-leader';
/**
 * Out of so many leadership transfers one is sent unchanged: each leaves the cluster without a
 * leader for a moment.
 */
const TRANSFERS_ONE_IN = 40;

const EXTRA_QUERY = [
  ...['near=_agent', 'near=%00', 'cas=0', 'cas=-1', 'cas=1e3', 'cas=99999999999999999999'],
  ...['index=1&wait=20ms', 'index=0&wait=-5s', 'index=%F0%9F', 'index=1&index=2&wait=1ms'],
  ...[
    'wait=1ms&index=18446744073709551615',
    'stale&consistent',
    'stale=&stale',
    'ns=*',
    'ns=a%2Fb',
  ],
  ...['partition=p', 'partition=default', 'dc=dc2', 'dc=dc1&dc=dc2', 'datacenter=', 'ttl=1h'],
  ...['filter=%28', 'filter=Name+matches+%22%28a%2B%29%2B%24%22', 'filter=Name+%3D%3D+%22a%22'],
  ...[
    `filter=${'not+'.repeat(500)}Name+is+empty`,
    `filter=${'%28'.repeat(800)}`,
    'filter=%ED%A0%80',
  ],
  ...[
    'filter=Meta.__proto__+is+not+empty',
    'filter=%22a%22+in+Policies',
    'token=x',
    '&&&',
    '=',
    '%',
  ],
  ...[
    'sort=-expires&limit=1&search=a',
    'sort=name&after=bmFtZTphAGE&limit=1000',
    'limit=0&after=%FF&sort=',
    'expanded',
    'pretty',
    'format=prometheus',
    'max_stale=1s',
    'cached',
    'kind=mesh',
    'id=',
    'x=1',
  ],
];
const EXTRA_HEADERS: readonly (readonly string[])[] = [
  ['X-Service-Token: a', 'X-Service-Token: b'],
  ['X-Consul-Token: a', 'Authorization: Bearer b'],
  ['X-Service-Token: a, b'],
  ['Origin: https://example.org'],
  ['Origin: null', 'Sec-Fetch-Site: cross-site'],
  ['Referer: javascript:1', 'Forwarded: for=127.0.0.1'],
  ['If-None-Match: "1"', 'If-Match: *', 'If-Modified-Since: never'],
  ['Accept: application/problem+json;q=0.1, */*', 'Accept-Language: \u00ff'],
  ['Accept-Encoding: gzip'],
  ['Accept-Encoding: gzip, gzip, br, \u00ff'],
  ['Cache-Control: max-age=1, stale-if-error=x'],
  ['Content-Type: text/html; charset=utf-16'],
  ['X-Service-Namespace: team', 'X-Consul-Namespace: other'],
  ['X-Service-Partition: default'],
  ['Range: bytes=0-0', 'TE: trailers', 'Via: 1.1 x'],
  [`X-Huge: ${'h'.repeat(20_000)}`],
  Array.from({ length: 300 }, (_, at) => `X-Many-${at}: ${at}`),
  [`Cookie: ${'a=b; '.repeat(800)}`],
];
const NAMES = [
  ...['a', 'web', 'mesh', 'm', 'p', 'r', 'team', 'default', 'global', 'proxy-defaults'],
  ...['service-defaults', 'service-intentions', 'builtin/service', 'fuzz-jwt', 'fuzz-weak', ''],
];
const IDS = /"(?:ID|AccessorID)":"([0-9a-f-]{36})"/g;
const IDS_MAX = 200;
const HOSTS = ['localhost', 'LOCALHOST:1', 'example.org', '[::1]', '', 'a b', '127.0.0.1.', 'é'];

export class HttpShots {
  readonly #plan: HttpPlan;
  readonly #random: Random;
  /** Mutations that were generated and not sent yet, by endpoint. */
  readonly #drawn = new Map<Fuzzed, Hostile[]>();
  readonly #ids = ['0f0f0f0f-1111-4222-8333-444444444444'];
  /** Shots that may have transferred leadership, each of which may raise the term. */
  transfers = 0;

  constructor(plan: HttpPlan, random: Random) {
    this.#plan = plan;
    this.#random = random;
  }

  next(): Shot {
    return this.at(this.#random.pick(this.#plan.endpoints));
  }

  /** A shot at one endpoint. */
  at(endpoint: Fuzzed): Shot {
    const random = this.#random;
    const node = random.int(this.#plan.hosts.length);
    const request = this.#guarded(endpoint, this.#request(endpoint));
    const label = labelOf(endpoint);
    if (random.chance(0.8)) return this.#whole(label, node, request);
    return random.chance(0.4)
      ? this.#pipelined(label, node, request)
      : this.#broken(label, node, request);
  }

  /**
   * A request whose target, headers and body are each valid or mutated: if everything were wrong,
   * the first check would refuse it.
   */
  #request(endpoint: Fuzzed): Hostile {
    const random = this.#random;
    const hostile = this.#mutated(endpoint);
    const meant = endpoint.path.replaceAll('*', () =>
      random.pick(random.chance(0.4) ? this.#ids : NAMES),
    );
    let target = random.chance(0.5) ? hostile.target : meant;
    if (random.chance(0.3))
      target += `${target.includes('?') ? '&' : '?'}${random.pick(EXTRA_QUERY)}`;
    const headers = random.chance(0.4) ? hostile.headers : (endpoint.headers ?? {});
    let body = this.#plan.bodyFor(endpoint, random);
    if (body === undefined && endpoint.bodies.length > 0 && random.chance(0.35))
      body = Buffer.from(JSON.stringify(random.pick(endpoint.bodies)));
    return {
      method: endpoint.method,
      target: boundWait(target),
      headers,
      body: body ?? hostile.body,
    };
  }

  /** Collects the ids of created objects, so that they are read, changed and deleted as well. */
  learn({ label }: Shot, { status, body }: Reply): void {
    if (status !== 200 || !/^(PUT|POST) /.test(label)) return;
    for (const [, id] of body.toString('latin1').matchAll(IDS)) this.#ids.push(id!);
    this.#ids.splice(0, this.#ids.length - IDS_MAX);
  }

  #mutated(endpoint: Fuzzed): Hostile {
    const waiting = this.#drawn.get(endpoint) ?? [];
    if (waiting.length === 0) {
      const seed = this.#random.int(2 ** 31);
      waiting.push(...fc.sample(hostileTo(endpoint), { seed, numRuns: BATCH }));
      this.#drawn.set(endpoint, waiting);
    }
    return waiting.pop()!;
  }

  /** Limits transfers: a cluster without a leader would hide everything else. */
  #guarded(endpoint: Fuzzed, request: Hostile): Hostile {
    if (labelOf(endpoint) !== TRANSFER) return request;
    if (this.#random.int(TRANSFERS_ONE_IN) === 0) {
      this.transfers += 1;
      return request;
    }
    // The first parameter of a name counts.
    return { ...request, target: request.target.replace(/\?|$/, '?id=nobody&') };
  }

  #whole(label: string, node: number, request: Hostile): Shot {
    const random = this.#random;
    const method = random.chance(0.05) ? this.#otherMethod(request.method) : request.method;
    const changed = { ...request, method };
    const parts = this.#parts(node, changed, true);
    return { label, node, parts, methods: [method], strict: true };
  }

  /** Another method, except one that the guards prevent. */
  #otherMethod(method: string): string {
    const others = ['HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'];
    return method === 'GET' ? this.#random.pick(others) : 'OPTIONS';
  }

  /** Several requests at once on one connection; the last one closes it. */
  #pipelined(label: string, node: number, request: Hostile): Shot {
    const random = this.#random;
    const before = Array.from({ length: 1 + random.int(4) }, (): Hostile => {
      const method = random.pick(['GET', 'HEAD', 'OPTIONS']);
      const target = random.pick(['/v1/status/leader', '/v1/acl/token/self', '/v1/nothing', '/']);
      return { method, target, headers: {}, body: undefined };
    });
    const all = [...before, request];
    const bytes = all.flatMap((one, at) => this.#parts(node, one, at === all.length - 1));
    const methods = all.map(({ method }) => method);
    return { label, node, parts: [Buffer.concat(bytes)], methods, strict: true };
  }

  /** A request that ends early, has a wrong length, or is changed on the way. */
  #broken(label: string, node: number, request: Hostile): Shot {
    const random = this.#random;
    const shot = { label, node, methods: [request.method], strict: false };
    const bytes = Buffer.concat(this.#parts(node, request, random.chance(0.8)));
    switch (random.int(4)) {
      case 0:
        return {
          ...shot,
          parts: [bytes.subarray(0, random.int(bytes.length))],
          leavesAfterMs: 300,
        };
      case 1: {
        // Disconnects in the middle of the response, or before it.
        return { ...shot, parts: [bytes], leavesAfterMs: random.int(30) };
      }
      case 2: {
        const lie = random.pick([
          '-1',
          '1e3',
          '0',
          '00',
          '99999999999999999999',
          '5, 5',
          '0x10',
          '',
        ]);
        const text = bytes.toString('latin1').replace(/\r\n/, `\r\nContent-Length: ${lie}\r\n`);
        return { ...shot, parts: [Buffer.from(text, 'latin1')], leavesAfterMs: 500 };
      }
      default: {
        // The target must stay: a guarded request must not become another one.
        const from = bytes.indexOf('\r\n');
        const changed = Buffer.from(bytes);
        for (let n = 1 + random.int(4); n > 0; n--)
          changed[from + random.int(bytes.length - from)] = random.int(256);
        return { ...shot, parts: [changed], leavesAfterMs: 500 };
      }
    }
  }

  /** The raw bytes of a request. */
  #parts(node: number, request: Hostile, last: boolean): Buffer[] {
    const random = this.#random;
    const { method, target, body } = request;
    const head = [`${method} ${target} HTTP/1.1`];
    head.push(`Host: ${random.chance(0.97) ? this.#plan.hosts[node] : random.pick(HOSTS)}`);
    const names = Object.keys(request.headers);
    if (!names.includes('x-service-token') && !names.includes('authorization'))
      head.push(...this.#token());
    for (const [name, value] of Object.entries(request.headers)) head.push(`${name}: ${value}`);
    if (random.chance(0.2)) head.push(...random.pick(EXTRA_HEADERS));
    if (last) head.push('Connection: close');
    const isPacked =
      body !== undefined && !names.includes('content-encoding') && random.chance(0.05);
    const sent = isPacked ? gzipSync(body) : body;
    if (isPacked) head.push('Content-Encoding: gzip');
    return this.#framed(head, sent, method !== 'GET' && method !== 'HEAD');
  }

  #framed(head: string[], body: Buffer | undefined, takesBody: boolean): Buffer[] {
    const random = this.#random;
    const withHead = (...more: string[]): Buffer =>
      Buffer.from(`${[...head, ...more].join('\r\n')}\r\n\r\n`, 'latin1');
    if (body === undefined) return [takesBody ? withHead('Content-Length: 0') : withHead()];
    if (random.chance(0.8))
      return [Buffer.concat([withHead(`Content-Length: ${body.length}`), body])];
    if (random.chance(0.5)) {
      const at = random.int(body.length + 1);
      const first = withHead(`Content-Length: ${body.length}`);
      return [first, body.subarray(0, at), body.subarray(at)];
    }
    const chunks: Buffer[] = [];
    for (let at = 0; at < body.length; ) {
      const size = 1 + random.int(Math.max(16, body.length / 3));
      const piece = body.subarray(at, at + size);
      chunks.push(Buffer.from(`${piece.length.toString(16)}${random.pick(['', ';x=y'])}\r\n`));
      chunks.push(piece, Buffer.from('\r\n'));
      at += size;
    }
    chunks.push(Buffer.from(random.pick(['0\r\n\r\n', '000\r\n\r\n', '0\r\nTrailer: x\r\n\r\n'])));
    return [withHead('Transfer-Encoding: chunked'), Buffer.concat(chunks)];
  }

  #token(): string[] {
    const random = this.#random;
    const { management, weak } = this.#plan.tokens;
    const name = random.pick(['X-Service-Token', 'X-Consul-Token', 'x-service-token']);
    const draw = random.next();
    if (draw < 0.6) {
      if (random.chance(0.1)) return [`Authorization: Bearer ${management}`];
      return [`${name}: ${management}`];
    }
    if (draw < 0.75) return [`${name}: ${weak}`];
    if (draw < 0.85) return [];
    if (draw < 0.93) return [`${name}: 0f0f0f0f-1111-4222-8333-999999999999`];
    const odd = ['', ' ', '__proto__', '\u00e9', 'x'.repeat(9000), `${weak},${management}`, '{}'];
    return [`${name}: ${random.pick(odd)}`];
  }
}

/** Limits blocking queries, and with them the run. The first parameter of a name counts. */
function boundWait(target: string): string {
  if (!/[?&]index=/.test(target)) return target;
  return target.replace('?', '?wait=20ms&');
}
