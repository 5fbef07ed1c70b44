import { expect } from 'chai';
import fc from 'fast-check';
import { selects } from '../../src/acl/binding.js';
import { ApiError } from '../../src/base/errors.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { explainLogin } from '../../src/service/explain/login.js';
import { authMethodTypes } from '../../src/service/login/index.js';
import { LoginRefused, login } from '../../src/service/login/login.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';
import { partsOf } from './serve.js';
import { MANAGER, Solo } from './solo.js';

const now: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };
const uuid = (kind: number, n: number): string =>
  `0000000${kind}-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;

const SELECTORS = [
  '',
  'value.name == web',
  'value.name != web',
  'value.team matches `^b`',
  'not value.team == blue',
  'dev in list.groups',
  'list.groups is empty or value.name == api',
  '(value.name == web or value.gone == x) and "dev" not in list.groups',
  'value.name ==',
];
const NAMES = ['web', 'x-${value.name}', 'r${value.team}', '${value.team}', 'none'];
const rule = fc.record({
  Selector: fc.constantFrom(...SELECTORS),
  bind: fc.oneof(
    fc.record({
      BindType: fc.constantFrom('service', 'node', 'role', 'policy'),
      BindName: fc.constantFrom(...NAMES),
    }),
    fc.record({
      BindType: fc.constant('templated-policy'),
      BindName: fc.constantFrom('builtin/service', 'builtin/dns'),
      BindVars: fc.record({ name: fc.constantFrom(...NAMES) }),
    }),
  ),
});
const text = fc.constantFrom('web', 'api', 'blue', '', 'B A D');
const faulty = fc.record(
  {
    name: fc.constantFrom(7, { a: 1 }, undefined),
    groups: fc.constantFrom(['', 'ops'], 'dev', [{}], undefined),
    iss: fc.constantFrom('x', 7, undefined),
    aud: fc.constantFrom('x', ['x', 'conclave'], undefined),
    // Seconds from now.
    iat: fc.constantFrom(900, undefined),
    nbf: fc.constantFrom(-10, 900),
    exp: fc.constantFrom(-900, undefined),
  },
  { requiredKeys: [] },
);
const sound = fc.record({
  name: text,
  team: text,
  groups: fc.subarray(['dev', 'ops']),
  sub: fc.constantFrom('me', 'you'),
  iss: fc.constant('https://issuer'),
  aud: fc.constant('conclave'),
  iat: fc.constant(-10),
  exp: fc.constant(600),
});
const claims = fc
  .tuple(sound, fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, faulty))
  .map(([all, faults]): Record<string, unknown> => ({ ...all, ...faults }));
const world = fc.record({
  rules: fc.array(rule, { maxLength: 5 }),
  config: fc.record(
    {
      BoundIssuer: fc.constant('https://issuer'),
      BoundAudiences: fc.constant(['conclave']),
      ListClaimMappings: fc.constant({ groups: 'groups' }),
    },
    { requiredKeys: ['BoundAudiences'] },
  ),
  mapsTeam: fc.boolean(),
  namespaceRules: fc.array(
    fc.record({
      Selector: fc.constantFrom('', 'value.name == web'),
      BindNamespace: fc.constantFrom('team', '${value.team}', 'none'),
    }),
    { maxLength: 1 },
  ),
  claims,
  isSigned: fc.constantFrom(true, true, true, false),
  limit: fc.constantFrom(0, 1),
});
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

describe('explanations of logins', () => {
  let key: Signer;
  let other: Signer;
  const methodTypes = authMethodTypes(LOGIN_DEFAULTS);
  before(async () => {
    [key, other] = await Promise.all([signer('EdDSA'), signer('EdDSA')]);
  });

  function built({ rules, config, mapsTeam, namespaceRules, limit }: World): Solo {
    const solo = new Solo();
    const must = (command: object): unknown => solo.must({ v: 1, ...command } as Command);
    const unlimited = { LoginTokenTTL: '', LoginTokenTTLMax: '', OnTokenLimit: 'refuse' };
    must({ type: 'acl.configure', configuration: { ...unlimited, TokensPerIdentity: limit } });
    const team = { Name: 'team', PolicyDefaults: [], RoleDefaults: [] };
    must({ type: 'namespace.set', policyId: uuid(1, 1), namespace: team });
    for (const [at, ns] of ['default', 'team'].entries()) {
      const role = { Name: 'rblue', Description: '' };
      must({ type: 'role.set', ns, id: uuid(2, at), create: true, role });
      const policy = { Name: 'web', Description: '', Rules: '' };
      must({ type: 'policy.set', ns, id: uuid(1, 2 + at), create: true, hash: '', policy });
    }
    const ClaimMappings = { name: 'name', ...(mapsTeam && { team: 'team' }) };
    const Config = { JWTValidationPubKeys: [key.pem], ClaimMappings, ...config };
    const NamespaceRules = namespaceRules;
    const method = { Name: 'm', Type: 'jwt', NamespaceRules, Config };
    must({ type: 'method.set', ns: 'default', create: true, method });
    for (const [n, { Selector, bind }] of rules.entries()) {
      const made = { Description: '', AuthMethod: 'm', Selector, ...bind };
      must({ type: 'rule.set', ns: 'default', id: uuid(4, n), create: true, rule: made });
    }
    return solo;
  }

  function timed(given: World['claims'], nowMs: number): Record<string, unknown> {
    const seconds = Math.floor(nowMs / 1000);
    const moved = ['iat', 'nbf', 'exp'].flatMap((name) => {
      const at = given[name];
      return typeof at === 'number' ? [[name, seconds + at]] : [];
    });
    return JSON.parse(JSON.stringify({ ...given, ...Object.fromEntries(moved) }));
  }

  it('come to what a login comes to, whatever the method, the rules and the claims', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        const solo = built(drawn);
        const parts = { ...partsOf(solo), methodTypes };
        const sent = timed(drawn.claims, solo.nowMs);
        const BearerToken = await (drawn.isSigned ? key : other).sign(sent);
        const asked = { caller: MANAGER, ns: 'default', options: now };
        const explain = async (body: object) => {
          const outcome = await explainLogin(parts, asked, { AuthMethod: 'm', ...body });
          return JSON.parse(outcome.value!);
        };
        const explained = await explain({ BearerToken });
        const hasAll = ['iat', 'nbf', 'exp', 'iss', 'aud'].some((name) =>
          Object.hasOwn(sent, name),
        );
        const ofClaims = hasAll ? await explain({ Claims: sent }) : undefined;
        const body = { AuthMethod: 'm', BearerToken };
        const made = await login(parts, { ns: 'default', timeoutMs: 1000 }, body).then(
          (token) => JSON.parse(token),
          (error: unknown) => {
            if (!(error instanceof ApiError)) throw error;
            return error;
          },
        );
        const shown = JSON.stringify([drawn, explained]);
        for (const { Selector, Matches, Clause, Problem } of explained.Rules) {
          const method = JSON.parse(solo.store.get('method\0default\0m')!);
          const shape = methodTypes.get('jwt')!.shapeOf(method.Config);
          const selectable = { value: explained.Values, list: explained.Lists };
          const identity = { selectable, variables: new Map<string, string>() };
          expect(Matches, Selector).to.equal(selects(Selector, identity, shape));
          if (Clause !== null && Problem === '') expect(Clause.Result).to.equal(Matches);
        }
        if (made instanceof ApiError) {
          expect(made, shown).to.be.instanceOf(LoginRefused);
          const { code, reason } = (made as LoginRefused).fault;
          const { Outcome, ReasonCode, Reason, Token } = explained;
          expect({ Outcome, ReasonCode, Reason, Token }, shown).to.deep.equal({
            Outcome: 'refused',
            ReasonCode: code,
            Reason: reason,
            Token: null,
          });
          return;
        }
        expect(explained.Outcome, shown).to.equal('granted');
        const names = ['Policies', 'Roles', 'ServiceIdentities', 'NodeIdentities'];
        const more = ['TemplatedPolicies', 'Local', 'Namespace', 'AuthMethod'];
        const links = (token: Record<string, unknown>) =>
          [...names, ...more].map((name) => [name, token[name]]);
        expect(links(explained.Token), shown).to.deep.equal(links(made));
        expect(ofClaims?.Outcome ?? 'granted', shown).to.equal('granted');
        if (ofClaims !== undefined) expect(ofClaims.Token).to.deep.equal(explained.Token);
      }),
      { numRuns: 300 },
    );
  }).timeout(120_000);
});
