/**
 * Servers of decisions, given the same rights and asked the same questions: a node of this build,
 * Consul, OPA and OpenFGA, each with the settings that its makers recommend. Token `n` has role `n`
 * modulo ROLES, and that one has policy `n` modulo POLICIES, of RULES rules for prefixes.
 */
import type { ChildProcess } from 'node:child_process';
import type { Ask, Target } from './line.js';
import { fill } from './load.js';
import type { Setting } from './setting.js';

export const TOKENS = 10_000;
export const ROLES = 1_000;
export const POLICIES = 100;
export const RULES = 100;
/** Questions of a batch: the most that Consul takes. */
export const BATCH = 64;
export const FILLING = 16;

/** A server of decisions. */
export interface Decider {
  readonly name: string;
  /** The version, and the settings by which it differs from its defaults. */
  readonly version: string;
  readonly target: Target;
  /** The kinds of answers that it has, by how old they may be. */
  readonly modes: readonly string[];
  fill(): Promise<void>;
  cpuSeconds(): Promise<number>;
  residentMb(): Promise<number>;
  /** A request with all questions about one token. */
  ask(mode: string, token: number, ids: readonly string[]): Ask;
  /** A request that takes a token's rights; undefined if measured elsewhere. */
  readonly revoke?: (token: number) => Ask;
  /** A request about whoever the JWT names; undefined if it takes none. */
  readonly askJwt?: (jwt: string, id: string) => Ask;
}

/** Which JWTs are valid, and the claim by which their subject has a role. */
export interface Issuer {
  /** The public key as PEM. */
  readonly key: string;
  readonly team: string;
}

export const prefixOf = (policy: number, rule: number): string => `p${policy}-r${rule}-`;
/** The `n`th id that a token may approve. */
export const idOf = (token: number, n: number): string =>
  `${prefixOf(token % POLICIES, n % RULES)}${n % (5 * RULES)}`;
/** Ids that {@link idOf} gives for a token. */
export const IDS = 5 * RULES;

export const range = <T>(count: number, of: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => of(n));
export const secretOf = (token: number): string =>
  `aaaaaaaa-0000-4000-8000-${String(token).padStart(12, '0')}`;
export const post = (path: string, body: unknown, token?: string): Ask => ({
  method: 'POST',
  path,
  body: JSON.stringify(body),
  ...(token !== undefined && { token }),
});
const accessorOf = (token: number): string => secretOf(token).replaceAll('a', 'b');
const put = (path: string, body: unknown): Ask => ({
  method: 'PUT',
  path,
  body: JSON.stringify(body),
});

/** The rights as this API and Consul's have them. */
export async function fillAcl(target: Target): Promise<void> {
  const targets = [target];
  await fill(targets, FILLING, POLICIES, (policy) => {
    const rules = range(
      RULES,
      (rule) => `key_prefix "orders/approve/${prefixOf(policy, rule)}" { policy = "read" }`,
    );
    return put('/v1/acl/policy', { Name: `policy-${policy}`, Rules: rules.join('\n') });
  });
  await fill(targets, FILLING, ROLES, (role) =>
    put('/v1/acl/role', {
      Name: `role-${role}`,
      Policies: [{ Name: `policy-${role % POLICIES}` }],
    }),
  );
  await fill(targets, FILLING, TOKENS, (token) =>
    put('/v1/acl/token', {
      AccessorID: accessorOf(token),
      SecretID: secretOf(token),
      Roles: [{ Name: `role-${token % ROLES}` }],
    }),
  );
}

/** Deletes a token. */
export const revokeAcl = (token: number): Ask => ({
  method: 'DELETE',
  path: `/v1/acl/token/${accessorOf(token)}`,
});

/** A node of this build. */
export function conclave(setting: Setting, issuer: Issuer): Decider {
  const target = setting.targets[0]!;
  const action = { name: 'approve' };
  const resource = (id: string) => ({ type: 'orders', id });
  const query: Readonly<Record<string, string>> = { stale: '?stale', consistent: '?consistent' };
  const subject = { type: 'token', id: 'self' };
  return {
    name: 'Conclave',
    version: 'this build',
    target,
    modes: ['stale', 'default', 'consistent'],
    async fill() {
      await fillAcl(target);
      const Config = { JWTValidationPubKeys: [issuer.key], ClaimMappings: { team: 'team' } };
      await setting.put('/v1/acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
      await setting.put('/v1/acl/binding-rule', {
        AuthMethod: 'jwt',
        BindType: 'role',
        BindName: 'role-0',
        Selector: `value.team == "${issuer.team}"`,
      });
    },
    cpuSeconds: () => setting.cpuSeconds(),
    residentMb: () => setting.residentMb(),
    ask(mode, token, ids) {
      const path = `/access/v1/evaluation${ids.length > 1 ? 's' : ''}${query[mode] ?? ''}`;
      const asked =
        ids.length > 1
          ? { evaluations: ids.map((id) => ({ resource: resource(id) })) }
          : { resource: resource(ids[0]!) };
      return post(path, { subject, action, ...asked }, secretOf(token));
    },
    revoke: revokeAcl,
    askJwt: (id, order) =>
      post('/access/v1/evaluation', {
        subject: { type: 'jwt', id, properties: { auth_method: 'jwt' } },
        action,
        resource: resource(order),
      }),
  };
}

export interface Started {
  readonly dir: string;
  readonly issuer: Issuer;
  readonly ports: readonly number[];
  readonly url: string;
}

/** How a program of others is started. */
export interface Peer {
  start(
    program: string,
    at: Started,
  ): Promise<Omit<Decider, 'cpuSeconds' | 'residentMb'> & { readonly child: ChildProcess }>;
}
