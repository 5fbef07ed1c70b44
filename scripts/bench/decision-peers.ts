/** Consul, OPA and OpenFGA as servers of decisions. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, HOST } from '../../src/dev/ports.js';
import {
  BATCH,
  type Decider,
  FILLING,
  fillAcl,
  IDS,
  type Issuer,
  idOf,
  type Peer,
  POLICIES,
  post,
  prefixOf,
  ROLES,
  RULES,
  range,
  revokeAcl,
  secretOf,
  TOKENS,
} from './deciders.js';
import { askOnce } from './line.js';
import { fill } from './load.js';
import { cpuSecondsOf, end, outputOf, residentMbOf, startProgram } from './processes.js';

/** Tuples that OpenFGA takes in one write. */
const TUPLES_MAX = 100;

const consul: Peer = {
  async start(program, { dir, ports: [http, server, lan, wan], url }) {
    const token = secretOf(TOKENS);
    const target = { url, token, tokenHeader: 'X-Consul-Token' };
    const config = {
      server: true,
      bootstrap_expect: 1,
      data_dir: dir,
      bind_addr: HOST,
      log_level: 'ERROR',
      performance: { raft_multiplier: 1 },
      limits: { http_max_conns_per_client: 1000 },
      ports: { http, server, serf_lan: lan, serf_wan: wan, dns: -1, grpc: -1, grpc_tls: -1 },
      acl: { enabled: true, default_policy: 'deny', tokens: { initial_management: token } },
      disable_update_check: true,
    };
    const file = join(dir, 'consul.json');
    await writeFile(file, JSON.stringify(config));
    const child = await startProgram(program, ['agent', `-config-file=${file}`], async () =>
      Boolean(await askOnce(target, { method: 'GET', path: '/v1/acl/token/self' })),
    );
    const version = /Consul v(\S+)/.exec(outputOf(program, ['version']))?.[1];
    return {
      child,
      name: 'Consul',
      version: `${version}, one server, raft_multiplier 1`,
      target,
      // the endpoint asks for stale answers by itself
      modes: ['stale'],
      fill: () => fillAcl(target),
      revoke: revokeAcl,
      ask: (_mode, of, ids) =>
        post(
          '/v1/internal/acl/authorize',
          ids.map((id) => ({ Resource: 'key', Access: 'read', Segment: `orders/approve/${id}` })),
          secretOf(of),
        ),
    };
  },
};

/** Who has which policies, as documents. */
const REGO = `package shop
roles := data.tokens[input.token]
roles := data.teams[claims.team] if {
  [valid, _, claims] := io.jwt.decode_verify(input.jwt, {"cert": data.key, "alg": "ES256"})
  valid
}
default allow := false
allow if {
  some role in roles
  some policy in data.roles[role]
  policy in granting
}
batch := [answer | some name in input.names; answer := allow with input.name as name]
`;

/**
 * The rules as rules of its own, which it finds by an index: a third of the time of the same rules
 * as documents.
 */
const regoRules = (): string =>
  range(POLICIES * RULES, (n) => {
    const name = `orders/approve/${prefixOf(n % POLICIES, Math.floor(n / POLICIES))}`;
    return `granting contains "policy-${n % POLICIES}" if startswith(input.name, "${name}")`;
  }).join('\n');

const documents = ({ key, team }: Issuer) => ({
  key,
  teams: { [team]: ['role-0'] },
  tokens: Object.fromEntries(range(TOKENS, (n) => [`token-${n}`, [`role-${n % ROLES}`]])),
  roles: Object.fromEntries(range(ROLES, (n) => [`role-${n}`, [`policy-${n % POLICIES}`]])),
});

const opa: Peer = {
  async start(program, { dir, ports: [port], url, issuer }) {
    // its cache of verified JWTs holds 10 by default
    const cache = { named: { io_jwt: { max_num_entries: 10_000 } } };
    const config = join(dir, 'opa.json');
    await writeFile(
      config,
      JSON.stringify({ caching: { inter_query_builtin_value_cache: cache } }),
    );
    const target = { url, token: '' };
    const child = await startProgram(
      program,
      [
        ...['run', '--server', `--addr=${HOST}:${port}`, '--log-level=error'],
        ...['--skip-version-check', '--optimize-store-for-read-speed', `--config-file=${config}`],
      ],
      async () => Boolean(await askOnce(target, { method: 'GET', path: '/health' })),
    );
    const version = /Version: (\S+)/.exec(outputOf(program, ['version']))?.[1];
    const nameOf = (id: string) => `orders/approve/${id}`;
    return {
      child,
      name: 'OPA',
      version: `${version}, --optimize-store-for-read-speed`,
      target,
      modes: ['in memory'],
      async fill() {
        const put = async (path: string, body: string) => {
          const { ok, status } = await fetch(`${url}/v1/${path}`, { method: 'PUT', body });
          if (!ok) throw new Error(`OPA answers ${status} to ${path}`);
        };
        await put('policies/shop', `${REGO}${regoRules()}`);
        for (const [name, value] of Object.entries(documents(issuer)))
          await put(`data/${name}`, JSON.stringify(value));
      },
      ask: (_mode, token, ids) =>
        ids.length > 1
          ? post('/v1/data/shop/batch', {
              input: { token: `token-${token}`, names: ids.map(nameOf) },
            })
          : post('/v1/data/shop/allow', {
              input: { token: `token-${token}`, name: nameOf(ids[0]!) },
            }),
      askJwt: (jwt, id) => post('/v1/data/shop/allow', { input: { jwt, name: nameOf(id) } }),
    };
  },
};

/** Prefixes are objects that orders belong to: it has no rules by name. */
const MODEL = {
  schema_version: '1.1',
  type_definitions: [
    { type: 'token' },
    related('role', 'holder', { type: 'token' }),
    related('policy', 'reader', { type: 'role', relation: 'holder' }),
    related('range', 'approver', { type: 'policy', relation: 'reader' }),
    {
      type: 'order',
      relations: {
        range: { this: {} },
        approve: {
          tupleToUserset: {
            tupleset: { relation: 'range' },
            computedUserset: { relation: 'approver' },
          },
        },
      },
      metadata: { relations: { range: { directly_related_user_types: [{ type: 'range' }] } } },
    },
  ],
};

function related(type: string, relation: string, by: object): object {
  const relations = { [relation]: { directly_related_user_types: [by] } };
  return { type, relations: { [relation]: { this: {} } }, metadata: { relations } };
}

const tuple = (user: string, relation: string, object: string) => ({ user, relation, object });
const holder = (token: number) => tuple(`token:${token}`, 'holder', `role:${token % ROLES}`);

/** The rights as tuples; of the orders those that will be asked for. */
function tuples(): ReturnType<typeof tuple>[] {
  return [
    ...range(TOKENS, holder),
    ...range(ROLES, (n) => tuple(`role:${n}#holder`, 'reader', `policy:${n % POLICIES}`)),
    ...range(POLICIES * RULES, (n) => {
      const policy = Math.floor(n / RULES);
      return tuple(`policy:${policy}#reader`, 'approver', `range:${prefixOf(policy, n % RULES)}`);
    }),
    ...range(IDS, (n) => tuple(`range:${prefixOf(0, n % RULES)}`, 'range', `order:${idOf(0, n)}`)),
    ...range(POLICIES - 1, (n) =>
      tuple(`range:${prefixOf(n + 1, 0)}`, 'range', `order:${idOf(n + 1, 0)}`),
    ),
  ];
}

const openfga: Peer = {
  async start(program, { dir, ports: [http, grpc], url }) {
    const target = { url, token: '' };
    // the engine "memory" searches all tuples for each question
    const database = ['--datastore-engine=sqlite', `--datastore-uri=file:${join(dir, 'fga.db')}`];
    outputOf(program, ['migrate', ...database]);
    const child = await startProgram(
      program,
      [
        ...['run', ...database, `--http-addr=${HOST}:${http}`],
        ...[`--grpc-addr=${HOST}:${grpc}`, '--playground-enabled=false', '--log-level=error'],
        ...['--check-query-cache-enabled', '--check-iterator-cache-enabled'],
        ...[`--max-checks-per-batch-check=${BATCH}`, '--metrics-enabled=false'],
      ],
      async () => Boolean(await askOnce(target, { method: 'GET', path: '/healthz' })),
    );
    const made = async (path: string, body: object) => {
      const reply = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
      return (await reply.json()) as Record<string, string>;
    };
    const { id: store } = await made('/stores', { name: 'shop' });
    const path = `/stores/${store}`;
    const { authorization_model_id } = await made(`${path}/authorization-models`, MODEL);
    const version = /version `(\S+)`/.exec(outputOf(program, ['version']))?.[1];
    return {
      child,
      name: 'OpenFGA',
      version: `${version}, SQLite, caches of checks on`,
      target,
      modes: ['MINIMIZE_LATENCY', 'HIGHER_CONSISTENCY'],
      async fill() {
        const all = tuples();
        await fill([target], FILLING, Math.ceil(all.length / TUPLES_MAX), (n) => {
          const tuple_keys = all.slice(n * TUPLES_MAX, (n + 1) * TUPLES_MAX);
          return post(`${path}/write`, { writes: { tuple_keys }, authorization_model_id });
        });
      },
      revoke: (token) =>
        post(`${path}/write`, {
          deletes: { tuple_keys: [holder(token)] },
          authorization_model_id,
        }),
      ask(consistency, token, ids) {
        const checks = ids.map((id, n) => ({
          tuple_key: { user: `token:${token}`, relation: 'approve', object: `order:${id}` },
          correlation_id: String(n),
        }));
        const common = { authorization_model_id, consistency };
        return ids.length > 1
          ? post(`${path}/batch-check`, { checks, ...common })
          : post(`${path}/check`, { tuple_key: checks[0]!.tuple_key, ...common });
      },
    };
  },
};

/** The programs that can be measured, by the option that names them. */
export const PEERS = { consul, opa, openfga } as const;

/** Runs `measure` with a program of others, and ends it in any case. */
export async function withPeer(
  peer: Peer,
  program: string,
  issuer: Issuer,
  measure: (decider: Decider) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-decider-'));
  try {
    const ports = await freePorts(4);
    const url = `http://${HOST}:${ports[0]}`;
    const { child, ...started } = await peer.start(program, { dir, ports, url, issuer });
    try {
      await measure({
        ...started,
        cpuSeconds: async () => cpuSecondsOf([child]),
        residentMb: async () => residentMbOf(child),
      });
    } finally {
      await end(child);
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
