/** A server that plays a recorded source, with faults on demand. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Json = Record<string, unknown>;

/** The lists of a source. */
export interface Recorded {
  readonly Self: Json;
  readonly Replication: Json;
  /** Absent in the community edition. */
  readonly Namespaces?: Json[];
  readonly Partitions?: Json[];
  readonly Policies: Json[];
  readonly Roles: Json[];
  readonly AuthMethods: Json[];
  readonly BindingRules: Json[];
  readonly Tokens: Json[];
  readonly Entries: Json[];
}

/** What can go wrong. */
export interface Faults {
  /** After so many requests, connections are cut without an answer. */
  cutAfter?: number;
  /** So many lists have another index each time. */
  moves?: number;
  /** So many requests are refused because of their number. */
  busy?: number;
  /** Paths that answer with a status, without `/v1/`. */
  refused?: Readonly<Record<string, number>>;
  /** Paths whose lists are said to be filtered. */
  filtered?: readonly string[];
  /** Whether the token may only read, so that no secret of a token is shown. */
  readOnly?: boolean;
}

/** Reads a recorded source; see `recorded/README.md`. */
export function recordedSource(name: 'community' | 'enterprise'): Recorded {
  const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
  const { EntryCases, ...recorded } = read<
    Recorded & { EntryCases: { Case: string; Set: Json }[] }
  >(`test/migrate/recorded/${name}.json`);
  const cases = read<{ name: string; readBack: Json }[]>('test/tables/config-decode.json');
  const entries = EntryCases.map(({ Case, Set: set }, at) => {
    const found = cases.find((one) => one.name === Case)!;
    return { ...found.readBack, ...set, CreateIndex: 300 + at, ModifyIndex: 300 + at };
  });
  return { ...recorded, Entries: [...entries, ...recorded.Entries] };
}

const LISTS = {
  'acl/policies': 'Policies',
  'acl/roles': 'Roles',
  'acl/auth-methods': 'AuthMethods',
  'acl/binding-rules': 'BindingRules',
  'acl/tokens': 'Tokens',
} as const;
/** Paths of single objects: the list, and what identifies an object. */
const SINGLE: Readonly<Record<string, readonly [(typeof LISTS)[keyof typeof LISTS], string]>> = {
  'acl/policy': ['Policies', 'ID'],
  'acl/auth-method': ['AuthMethods', 'Name'],
  'acl/token': ['Tokens', 'AccessorID'],
};

const datacenterOf = ({ Self }: Recorded): unknown =>
  (Self as { Config: Json }).Config['Datacenter'];

/** What is said of an object that is not there, or of an unknown path. */
function absence(path: string): [status: number, why: string] {
  if (path.startsWith('acl/token/')) return [403, 'token does not exist: ACL not found'];
  if (path.startsWith('acl/policy/'))
    return [404, 'Requested policy does not exist: ACL not found'];
  if (path.startsWith('config/'))
    return [500, `invalid config entry kind: ${path.slice('config/'.length)}`];
  return [404, 'Invalid URL path: not a recognized HTTP API endpoint\n'];
}

/** A source on loopback. */
export class StandIn {
  readonly recorded: Recorded;
  readonly faults: Faults;
  /** The requests so far, without `/v1/`. */
  readonly requests: string[] = [];
  #index = 1000;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #waiting = new Set<() => void>();

  constructor(recorded: Recorded, faults: Faults) {
    this.recorded = recorded;
    this.faults = faults;
  }

  static async start(recorded: Recorded, faults: Faults = {}, port = 0): Promise<StandIn> {
    const standIn = new StandIn(recorded, faults);
    standIn.#server.listen(port, '127.0.0.1');
    await once(standIn.#server, 'listening');
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The secret of a token that may do everything. */
  get token(): string {
    const found = this.recorded.Tokens.find(({ Description }) =>
      String(Description).startsWith('Bootstrap'),
    );
    return String(found?.['SecretID']);
  }

  /** Changes the source. Held queries are answered. */
  change(work: (recorded: Recorded, index: number) => void): void {
    this.#index += 1;
    work(this.recorded, this.#index);
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  close(): void {
    for (const wake of this.#waiting) wake();
    this.#server.close().closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const path = url.pathname.slice('/v1/'.length);
    this.requests.push(path);
    const { faults } = this;
    if (faults.cutAfter !== undefined && this.requests.length > faults.cutAfter) {
      request.socket.destroy();
      return;
    }
    const refusal = this.#refusal(request, path);
    if (refusal !== undefined) {
      response.writeHead(refusal[0], { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(refusal[1]);
      return;
    }
    await this.#held(url);
    const ns = url.searchParams.get('ns') ?? 'default';
    const body = this.#bodyOf(path, ns, url.searchParams.has('expanded'));
    const isList = path in LISTS || path.startsWith('config/');
    if (isList && (faults.moves ?? 0) > 0) {
      faults.moves! -= 1;
      this.#index += 1;
    }
    const isCut = faults.filtered?.includes(path) === true;
    if (body === undefined) {
      const [status, why] = absence(path);
      response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(why);
      return;
    }
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'X-Consul-Index': String(this.#index),
      ...(isCut && { 'X-Consul-Results-Filtered-By-ACLs': 'true' }),
    });
    response.end(JSON.stringify(body));
  }

  #refusal(request: IncomingMessage, path: string): [number, string] | undefined {
    const { faults } = this;
    if ((faults.busy ?? 0) > 0) {
      faults.busy! -= 1;
      return [429, 'rate limit exceeded, try again later or against a different server'];
    }
    const status = faults.refused?.[path];
    if (status === 403) {
      return [403, "Permission denied: token with AccessorID 'x' lacks permission 'acl:read'"];
    }
    if (status !== undefined) return [status, 'refused'];
    if (request.headers['x-consul-token'] !== this.token) return [403, 'ACL not found'];
    const hasNs = new URL(request.url ?? '/', this.url).searchParams.has('ns');
    if (hasNs && this.recorded.Namespaces === undefined) {
      return [400, 'Invalid query parameter: "ns" - Namespaces are a Consul Enterprise feature'];
    }
    return undefined;
  }

  /** Waits while a query is held. */
  async #held({ searchParams }: URL): Promise<void> {
    const known = Number(searchParams.get('index') ?? 0);
    const wait = /^(\d+)(ms|s|m)$/.exec(searchParams.get('wait') ?? '5m');
    if (known === 0 || known < this.#index) return;
    const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
    const ms = Number(wait?.[1] ?? 5) * (units[wait?.[2] ?? 'm'] ?? 1);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #bodyOf(path: string, ns: string, isExpanded: boolean): unknown {
    const { recorded } = this;
    const inNs = (list: readonly Json[]): Json[] =>
      list.filter(({ Namespace = 'default' }) => Namespace === ns);
    if (path === 'agent/self') return recorded.Self;
    // The nearest one is first, and the source itself has no distance.
    if (path === 'catalog/datacenters') return [datacenterOf(recorded), 'dc0'];
    if (path === 'acl/replication') return recorded.Replication;
    if (path === 'namespaces') return recorded.Namespaces;
    if (path === 'partitions') return recorded.Partitions;
    const list = LISTS[path as keyof typeof LISTS];
    if (list !== undefined) return inNs(recorded[list]).map((one) => this.#listed(list, one));
    const [, kind] = /^config\/([^/]+)$/.exec(path) ?? [];
    // The community edition does not know this one.
    const isUnknown = kind === 'control-plane-request-limit' && recorded.Namespaces === undefined;
    if (isUnknown) return undefined;
    if (kind !== undefined) return inNs(recorded.Entries).filter(({ Kind }) => Kind === kind);
    const at = path.lastIndexOf('/');
    const [from, member] = SINGLE[path.slice(0, at)] ?? [];
    if (from === undefined || member === undefined) return undefined;
    const name = decodeURIComponent(path.slice(at + 1));
    const found = inNs(recorded[from]).find((one) => one[member] === name);
    const more = isExpanded ? { AgentACLDefaultPolicy: 'deny' } : {};
    return found && { ...this.#shown(from, found), ...more };
  }

  /** Lists leave out the longest members. */
  #listed(list: string, one: Json): Json {
    const { Rules: _rules, Config: _config, ...rest } = this.#shown(list, one);
    return list === 'Policies' ? { Datacenters: null, ...rest } : rest;
  }

  #shown = (list: string, one: Json): Json =>
    list === 'Tokens' && this.faults.readOnly === true && one['SecretID'] !== undefined
      ? { ...one, SecretID: '<hidden>' }
      : one;
}
