/** Searches agree with decisions, over random states; what they leave out; their bounds. */
import { expect } from 'chai';
import fc from 'fast-check';
import { signer } from '../../login/signers.js';
import type { Reply } from '../../support/authzen.js';
import { aState, built, SECRETS } from '../random-rights.js';
import { Decider } from './decider.js';

interface Entity {
  readonly type: string;
  readonly id: string;
  readonly properties?: object;
}
interface Prefix {
  readonly prefix: string;
  readonly allow: boolean;
}
type Body = Reply['body'];

const NAMED: readonly string[] = [
  ...['service', 'node', 'agent', 'session', 'event', 'query', 'intention', 'key'],
  ...['shop', 'app:web', 'app:a/b'],
];
const SCALARS: readonly string[] = ['acl', 'operator', 'mesh', 'keyring', 'peering'];
const IDS = ['', 'a', 'b', 'ab', 'abc', 'abcd', 'a/', 'web', 'ü', '1', '\u{1f600}', '\u{1f600}a'];
const ACTIONS = ['read', 'list', 'write', 'buy', 'sell', 'x'];

describe('searches over a state', () => {
  const over = async (
    state: Parameters<typeof built>[0],
    run: (decider: Decider) => Promise<void>,
  ): Promise<void> => {
    const { defaultPolicy } = state;
    const decider = await Decider.open({ solo: built(state), defaultPolicy });
    try {
      await run(decider);
    } finally {
      await decider.close();
    }
  };
  const search = async (decider: Decider, what: string, body: object): Promise<Body> => {
    const reply = await decider.ask(`search/${what}`, { page: { limit: 1000 }, ...body });
    expect(reply.status, reply.text).to.equal(200);
    return reply.body;
  };
  const decisions = async (
    decider: Decider,
    body: { readonly evaluations: readonly object[]; readonly [member: string]: unknown },
  ): Promise<boolean[]> => {
    if (body.evaluations.length === 0) return [];
    const reply = await decider.ask('evaluations', body);
    expect(reply.status, reply.text).to.equal(200);
    return reply.body.evaluations.map(({ decision }: { decision: boolean }) => decision);
  };
  const namespace = fc.constantFrom(undefined, 'default', 'team-a', 'team-b');
  const subject = fc.oneof(
    fc.constantFrom(...SECRETS).map((id) => ({ type: 'token_secret', id })),
    fc.constantFrom('r0', 'r1').map((id) => ({ type: 'role', id })),
  );
  const propertiesOf = (name: string | undefined) =>
    name === undefined ? {} : { properties: { namespace: name } };

  it('for resources and prefixes decide every id as decisions do', async () => {
    const law = async (
      state: Parameters<typeof built>[0],
      of: Entity,
      name: string | undefined,
    ): Promise<void> =>
      over(state, async (decider) => {
        for (const type of NAMED)
          for (const action of ACTIONS) {
            const asked = { subject: of, action: { name: action } };
            const resource = { type, ...propertiesOf(name) };
            const { results, context } = await search(decider, 'resource', { ...asked, resource });
            if (context.unsupported !== undefined) continue;
            const found: readonly string[] = results.map(({ id }: Entity) => id);
            const ids = [...IDS, ...found, ...context.denied]
              .filter((id) => id !== '*')
              .slice(0, 99);
            const evaluations = ids.map((id) => ({ resource: { ...resource, id } }));
            const decided = await decisions(decider, { ...asked, evaluations });
            for (const [at, id] of ids.entries()) {
              const prefixes: readonly Prefix[] = context.prefixes;
              const longest = prefixes.findLast(({ prefix }) => id.startsWith(prefix));
              const isAllowed =
                found.includes(id) || (longest?.allow === true && !context.denied.includes(id));
              const what = `${action} ${type} ${JSON.stringify(id)} ${JSON.stringify(context)}`;
              expect(decided[at], what).to.equal(isAllowed);
            }
            const allows = context.prefixes.some(({ allow }: Prefix) => allow);
            expect(context.complete).to.equal(!allows);
          }
      });
    await fc.assert(fc.asyncProperty(aState, subject, namespace, law), { numRuns: 12 });
  }).timeout(120_000);

  it('for resources without names, and for actions, are the decisions', async () => {
    const law = async (
      state: Parameters<typeof built>[0],
      of: Entity,
      name: string | undefined,
    ): Promise<void> =>
      over(state, async (decider) => {
        const more = propertiesOf(name);
        const decided = (type: string, id: string, actions: readonly string[]) => {
          const evaluations = actions.map((action) => ({ action: { name: action } }));
          return decisions(decider, { subject: of, resource: { type, id, ...more }, evaluations });
        };
        for (const type of [...SCALARS, ...NAMED, 'namespace']) {
          const id = type === 'namespace' ? 'team-a' : 'ab';
          const resource = { type, id, ...more };
          const body = await search(decider, 'action', { subject: of, resource });
          const names: string[] = body.results.map(({ name: one }: { name: string }) => one);
          const known = ['read', 'list', 'write', 'write-prefix'];
          if (body.context === undefined) {
            const allowed = await decided(type, id, known);
            expect(names, type).to.deep.equal(known.filter((_, at) => allowed[at]));
          } else expect(await decided(type, id, names)).not.to.include(false);
          if (!SCALARS.includes(type)) continue;
          for (const action of ['read', 'write']) {
            const asked = { subject: of, action: { name: action }, resource: { type, ...more } };
            const { results } = await search(decider, 'resource', asked);
            const [isAllowed] = await decided(type, 'any', [action]);
            expect(results).to.deep.equal(isAllowed ? [{ type, id: '' }] : []);
          }
        }
        for (const action of ['read', 'write']) {
          const asked = { subject: of, action: { name: action }, resource: { type: 'namespace' } };
          const { results } = await search(decider, 'resource', asked);
          const ids = ['default', 'team-a'];
          const allowed = await Promise.all(ids.map((id) => decided('namespace', id, [action])));
          expect(results.map(({ id }: Entity) => id)).to.deep.equal(
            ids.filter((_, at) => allowed[at]![0]),
          );
        }
      });
    await fc.assert(fc.asyncProperty(aState, subject, namespace, law), { numRuns: 12 });
  }).timeout(120_000);

  it('for subjects find those about whom the decision is true', async () => {
    const question = fc.record({
      action: fc.record({ name: fc.constantFrom('read', 'write', 'buy') }),
      resource: fc.record({
        type: fc.constantFrom('service', 'key', 'shop', 'acl', 'namespace'),
        id: fc.constantFrom('a', 'web', 'ü', 'team-a'),
      }),
    });
    const law = async (state: Parameters<typeof built>[0], asked: object): Promise<void> =>
      over(state, async (decider) => {
        for (const type of ['token', 'role']) {
          const { results } = await search(decider, 'subject', { subject: { type }, ...asked });
          const found = results.map(({ id, properties }: Entity & { properties: Prefix }) => {
            return `${id} ${(properties as unknown as { namespace: string }).namespace}`;
          });
          expect(found).to.deep.equal([...new Set(found)].sort());
          const all: string[] = [];
          for (const ns of ['default', 'team-a']) {
            const list: readonly { AccessorID: string; Name: string }[] = await decider.client.must(
              `GET /acl/${type}s?ns=${ns}`,
            );
            const ids = list.map((one) => (type === 'token' ? one.AccessorID : one.Name));
            const evaluations = ids.map((id) => {
              return { subject: { type, id, properties: { namespace: ns } } };
            });
            const decided = await decisions(decider, { ...asked, evaluations });
            all.push(...ids.filter((_, at) => decided[at]).map((id) => `${id} ${ns}`));
          }
          expect(found).to.deep.equal(all.sort());
        }
      });
    await fc.assert(fc.asyncProperty(aState, question, law), { numRuns: 20 });
  }).timeout(120_000);
});

describe('searches of decisions', () => {
  let decider: Decider;
  beforeEach(async () => {
    decider = await Decider.open();
  });
  afterEach(() => decider.close());
  const must = (call: string, body?: object) => decider.client.must(call, body);
  const ask = (what: string, body: object, token?: string, query = '') =>
    decider.ask(`search/${what}${query}`, body, token === undefined ? {} : { token });

  it('list at most 10,000 ids, and say that there are more', async () => {
    const Policies: object[] = [];
    for (const n of [1, 2, 3, 4, 5, 6, 7]) {
      const keys = Array.from({ length: 1_700 }, (_, at) => {
        return `key "o/r/${10_000 * n + at}" { policy = "read" }`;
      });
      await must('PUT /acl/policy', { Name: `p${n}`, Rules: keys.join('\n') });
      Policies.push({ Name: `p${n}` });
    }
    const { SecretID } = await must('PUT /acl/token', { Policies });
    const seen = new Set<string>();
    for (let token = '', pages = 0; pages === 0 || token !== ''; pages++) {
      const { body } = await ask('resource', {
        subject: { type: 'token_secret', id: SecretID },
        action: { name: 'r' },
        resource: { type: 'o' },
        page: { limit: 1000, token },
      });
      expect(body.context).to.deep.equal({
        prefixes: [],
        denied: [],
        complete: false,
        truncated: true,
      });
      expect(body.page).not.to.have.property('total');
      for (const { id } of body.results) seen.add(id);
      token = body.page.next_token;
    }
    expect(seen.size).to.equal(10_000);
  });

  it('find no name of a rule that is no text', async () => {
    const { SecretID } = await decider.token(`
      key "o/r/a\\xff" { policy = "read" } key_prefix "o/r/b\\xf0\\x9f" { policy = "read" }
      key "o/r/\\U0001f600" { policy = "read" } key "o/\\xff/1" { policy = "read" }`);
    const of = { subject: { type: 'token_secret', id: SecretID }, action: { name: 'r' } };
    const { body } = await ask('resource', { ...of, resource: { type: 'o' } });
    expect(body.results).to.deep.equal([{ type: 'o', id: '\u{1f600}' }]);
    expect(body.context).to.deep.equal({ prefixes: [], denied: [], complete: true });
    const found = await ask('action', { ...of, resource: { type: 'o', id: '1' } });
    expect(found.body.results).to.deep.equal([]);
  });

  it('ignore the id of what they look for', async () => {
    const question = { action: { name: 'read' }, resource: { type: 'key', id: 'a' } };
    const one = await ask('subject', { ...question, subject: { type: 'token', id: 'x' } });
    const other = await ask('subject', { ...question, subject: { type: 'token', id: 5 } });
    expect([one.status, other.body]).to.deep.equal([200, one.body]);
    const subject = { type: 'token', id: 'self' };
    const resource = { type: 'key', id: null };
    expect((await ask('resource', { ...question, subject, resource })).status).to.equal(200);
  });

  it('are asked about a subject as decisions are', async () => {
    const { SecretID: gateway } = await decider.token('');
    const body = (type: string, id: string) => ({
      subject: { type, id, properties: { auth_method: 'none' } },
      action: { name: 'read' },
      resource: { type: 'orders', id: '1' },
    });
    for (const what of ['resource', 'action']) {
      expect((await ask(what, body('role', 'r'), gateway)).status).to.equal(403);
      for (const of of ['jwt', 'token_secret', 'robot']) {
        const { status, body: found } = await ask(what, body(of, 'x'), gateway);
        expect([status, found.results, found.page.total]).to.deep.equal([200, [], 0]);
      }
      expect((await ask(what, body('role', 'r'), '')).status).to.equal(401);
    }
  });

  it('have pages of their namespace alone', async () => {
    await must('PUT /namespace', { Name: 'team' });
    for (const ns of ['default', 'team']) {
      const Rules = 'key_prefix "o/r/" { policy = "deny" }\nkey "o/r/1" { policy = "read" }\n';
      const more = 'key "o/r/2" { policy = "read" }';
      await must(`PUT /acl/policy?ns=${ns}`, { Name: 'p', Rules: Rules + more });
      await must(`PUT /acl/role?ns=${ns}`, { Name: 'r', Policies: [{ Name: 'p' }] });
    }
    const page = (ns: string, token: string, limit = 1) => {
      const subject = { type: 'role', id: 'r' };
      const of = { subject, action: { name: 'r' }, resource: { type: 'o' } };
      return ask('resource', { ...of, page: { limit, token } }, undefined, `?ns=${ns}`);
    };
    const { next_token: token } = (await page('team', '')).body.page;
    // The limit and what is ignored may differ.
    const next = await page('team', token, 5);
    expect(next.body.results).to.deep.equal([{ type: 'o', id: '2' }]);
    expect(next.body.page).to.deep.equal({ next_token: '', count: 1, total: 2 });
    for (const other of [`${token}=`, ` ${token}`, token.slice(0, -1), `${token}A`, '!', 'W10'])
      expect((await page('team', other)).status, other).to.equal(400);
    expect((await page('default', token)).status).to.equal(400);
    const [place, untilMs, check] = JSON.parse(Buffer.from(token, 'base64url').toString());
    for (const forged of [['2', untilMs, check], [place, untilMs + 1, check], [place], {}, null]) {
      const text = Buffer.from(JSON.stringify(forged)).toString('base64url');
      expect((await page('team', text)).status).to.equal(400);
    }
  });

  it('for subjects leave out what the caller may not read', async () => {
    const key = await signer('EdDSA');
    await must('PUT /namespace', { Name: 'team' });
    const Config = { JWTValidationPubKeys: [key.pem], ListClaimMappings: { groups: 'groups' } };
    const NamespaceRules = [{ Selector: 'admins in list.groups', BindNamespace: 'team' }];
    const method = { Name: 'm', Type: 'jwt', Config, NamespaceRules };
    await must('PUT /acl/auth-method', method);
    const rule = { AuthMethod: 'm', BindType: 'service', BindName: 'web' };
    await must('PUT /acl/binding-rule', rule);
    const iat = Math.floor(decider.client.solo.nowMs / 1000);
    const login = async (sub: string, groups: readonly string[]) => {
      const BearerToken = await key.sign({ sub, iat, exp: iat + 600, groups });
      await must('POST /acl/login', { AuthMethod: 'm', BearerToken });
    };
    await login('ann', []);
    await login('bob', ['admins']);
    const user = { AuthMethod: 'M', Namespace: 'default', From: 'tokens' };
    await must('PUT /operator/acl/configuration', { SubjectTypes: { user } });
    const found = async (type: string, token?: string) => {
      const action = { name: 'write' };
      const resource = { type: 'service', id: 'web' };
      const { body } = await ask('subject', { subject: { type }, action, resource }, token);
      return body.results.map(({ id, properties }: Entity) => [id, properties]);
    };
    const here = { namespace: 'default' };
    // The tokens of bob are in team, and both are identities of default.
    expect(await found('identity')).to.deep.equal([
      ['m/ann', here],
      ['m/bob', here],
    ]);
    expect(await found('user')).to.deep.equal([
      ['ann', here],
      ['bob', here],
    ]);
    const { SecretID: reader } = await decider.token('acl = "read"');
    expect(await found('identity', reader)).to.deep.equal([['m/ann', here]]);
    const { SecretID: other } = await decider.token('namespace "team" { acl = "read" }');
    expect(await found('identity', other)).to.deep.equal([]);
    expect(await found('token', other)).to.have.length(1);
  });
});
