/** Searches for subjects, resources and actions, and their pages. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Reply } from '../../support/authzen.js';
import { Decider } from './decider.js';

interface Found {
  readonly id: string;
}
interface Prefix {
  readonly prefix: string;
  readonly allow: boolean;
}

const SELF = { type: 'token', id: 'self' };

describe('searches of decisions', () => {
  let decider: Decider;
  beforeEach(async () => {
    decider = await Decider.open();
  });
  afterEach(() => decider.close());

  const resources = (token: string, type: string, action: string, more: object = {}) =>
    decider.ask(
      'search/resource',
      { subject: SELF, action: { name: action }, resource: { type }, ...more },
      { token },
    );
  const actions = (token: string, type: string, id: string) =>
    decider.ask('search/action', { subject: SELF, resource: { type, id } }, { token });
  const subjects = (type: string, [kind, id]: readonly [string, string], more: object = {}) =>
    decider.ask('search/subject', {
      subject: { type },
      action: { name: 'read' },
      resource: { type: kind, id },
      ...more,
    });
  const idsOf = ({ body }: Reply): string[] => body.results.map(({ id }: Found) => id);

  it('find the resources that rules name, and what prefixes say of the rest', async () => {
    const { SecretID } = await decider.token(`
      key "orders/approve/17" { policy = "read" } key "orders/approve/é" { policy = "write" }
      key "orders/approve/b" { policy = "deny" } key "orders/approve/eu-7" { policy = "deny" }
      key_prefix "orders/approve/eu-" { policy = "read" } key_prefix "orders/ap" { policy = "deny" }
      key "orders/ship/1" { policy = "read" }`);
    const { status, body } = await resources(SecretID, 'orders', 'approve');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      page: { next_token: '', count: 2, total: 2 },
      results: [
        { type: 'orders', id: '17' },
        { type: 'orders', id: 'é' },
      ],
      context: {
        prefixes: [{ prefix: 'eu-', allow: true }],
        denied: ['eu-7'],
        complete: false,
      },
    });
    const ship = await resources(SecretID, 'orders', 'ship');
    expect([idsOf(ship), ship.body.context.complete]).to.deep.equal([['1'], true]);
  });

  it('find resources of this server', async () => {
    await decider.client.must('PUT /namespace', { Name: 'team' });
    const { SecretID: token } = await decider.token(`
      service "web" { policy = "write" } service_prefix "a" { policy = "read" }
      acl = "read" namespace "team" { policy = "read" }`);
    const services = await resources(token, 'service', 'write');
    expect([idsOf(services), services.body.context]).to.deep.equal([
      ['web'],
      { prefixes: [], denied: [], complete: true },
    ]);
    expect(idsOf(await resources(token, 'acl', 'read'))).to.deep.equal(['']);
    expect(idsOf(await resources(token, 'acl', 'write'))).to.deep.equal([]);
    const namespaces = await resources(token, 'namespace', 'read');
    expect(idsOf(namespaces)).to.deep.equal(['default', 'team']);
    for (const [type, action] of [
      ['service', 'list'],
      ['key', 'write-prefix'],
    ] as const) {
      const { body } = await resources(token, type, action);
      expect([body.results, typeof body.context.unsupported]).to.deep.equal([[], 'string']);
    }
  });

  it('find actions, known ones in their order', async () => {
    const { SecretID: token } = await decider.token(`
      service "web" { policy = "write" } key "k" { policy = "list" }
      key "orders/approve/17" { policy = "read" } key_prefix "orders/ship/" { policy = "read" }
      key_prefix "orders/can" { policy = "read" } key "orders/x%2Fy/17" { policy = "read" }
      key "orders/never/17" { policy = "deny" }`);
    const namesOf = ({ body }: Reply): string[] =>
      body.results.map(({ name }: { name: string }) => name);
    expect(namesOf(await actions(token, 'service', 'web'))).to.deep.equal(['read', 'write']);
    expect(namesOf(await actions(token, 'key', 'k'))).to.deep.equal(['read', 'list']);
    const orders = await actions(token, 'orders', '17');
    expect(namesOf(orders)).to.deep.equal(['approve', 'ship', 'x/y']);
    expect(orders.body.context).to.deep.equal({
      any_action: false,
      action_prefixes: [{ prefix: 'can', allow: true }],
    });
    expect(namesOf(await actions(token, 'orders', '18'))).to.deep.equal(['ship']);
  });

  it('find actions on any id, and those that none has', async () => {
    const { SecretID: token } = await decider.token(`
      service "web" { policy = "write" } service_prefix "w" { policy = "read" } acl = "read"
      key_prefix "orders/" { policy = "read" } key_prefix "orders/cancel/" { policy = "deny" }
      key_prefix "orders/re" { policy = "deny" } key "orders/refund/1" { policy = "read" }
      key_prefix "shop/" { policy = "deny" } key_prefix "shop/sell/eu-" { policy = "read" }
      key "shop/buy/1" { policy = "deny" }`);
    const anyOf = async (type: string) => {
      const resource = { type, id: '', properties: { any_id: true } };
      const { body } = await decider.ask('search/action', { subject: SELF, resource }, { token });
      return [body.results.map(({ name }: { name: string }) => name), body.context];
    };
    expect(await anyOf('service')).to.deep.equal([['read', 'write'], undefined]);
    expect(await anyOf('acl')).to.deep.equal([['read'], undefined]);
    expect(await anyOf('key')).to.deep.equal([['read'], undefined]);
    expect(await anyOf('namespace')).to.deep.equal([['read'], undefined]);
    expect(await anyOf('orders')).to.deep.equal([
      ['refund'],
      {
        any_action: true,
        action_prefixes: [{ prefix: 're', allow: false }],
        denied: ['cancel'],
      },
    ]);
    expect(await anyOf('shop')).to.deep.equal([
      ['sell'],
      { any_action: false, action_prefixes: [], denied: [] },
    ]);
  });

  it('find tokens, roles and identities that are allowed', async () => {
    const one = await decider.token('key "orders/read/1" { policy = "read" }', {
      Description: 'one',
    });
    await decider.token('service "x" { policy = "read" }');
    await decider.client.must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'policy-0' }] });
    const tokens = await subjects('token', ['orders', '1']);
    expect(tokens.body.results).to.deep.include({
      type: 'token',
      id: one.AccessorID,
      properties: { description: 'one', namespace: 'default' },
    });
    expect(idsOf(tokens)).to.have.length(2);
    expect(idsOf(await subjects('role', ['orders', '1']))).to.deep.equal(['r']);
    expect(idsOf(await subjects('identity', ['orders', '1']))).to.deep.equal([]);
    for (const [type, why] of [
      ['jwt', 'cannot be listed'],
      ['token_secret', 'cannot be listed'],
      ['robot', 'unknown type'],
    ] as const) {
      const { body } = await subjects(type, ['orders', '1']);
      expect(body.context.unsupported).to.include(why);
    }
    await decider.client.must(`DELETE /acl/token/${one.AccessorID}`);
    expect(idsOf(await subjects('token', ['orders', '1']))).not.to.include(one.AccessorID);
    const { SecretID } = await decider.token('');
    const denied = await decider.ask(
      'search/subject',
      { subject: { type: 'token' }, action: { name: 'read' }, resource: { type: 'a', id: '' } },
      { token: SecretID },
    );
    expect(denied.status).to.equal(403);
  });

  it('find no subject in a namespace that is being deleted', async () => {
    const must = (call: string, body?: object) => decider.client.must(call, body);
    await must('PUT /namespace', { Name: 'team' });
    const Rules = 'key "orders/read/1" { policy = "read" }';
    await must('PUT /acl/policy?ns=team', { Name: 'shop', Rules });
    const grants = { Policies: [{ Name: 'shop' }] };
    await must('PUT /acl/role?ns=team', { Name: 'clerk', ...grants });
    const { AccessorID } = await must('PUT /acl/token?ns=team', grants);
    const found = async (type: string) => idsOf(await subjects(type, ['orders', '1']));
    expect(await found('role')).to.deep.equal(['clerk']);
    expect(await found('token')).to.include(AccessorID);
    await must('DELETE /namespace/team');
    expect(await found('role')).to.deep.equal([]);
    expect(await found('token')).not.to.include(AccessorID);
  });

  it('come in pages whose tokens belong to their request', async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `${n}`);
    const rules = ids.map((id) => `key "orders/read/${id}" { policy = "read" }`).join('\n');
    const { SecretID: token } = await decider.token(rules);
    const page = (limit: number, next = '') =>
      resources(token, 'orders', 'read', { page: { limit, token: next } });
    const seen: string[] = [];
    let next = '';
    do {
      const answer = await page(10, next);
      seen.push(...idsOf(answer));
      expect(answer.body.page.total).to.equal(25);
      next = answer.body.page.next_token;
    } while (next !== '');
    expect(seen).to.deep.equal([...ids].sort());
    const none = await page(0);
    expect(none.body.page).to.deep.equal({ next_token: '', count: 0, total: 25 });
    const { next_token } = (await page(10)).body.page;
    const other = await resources(token, 'orders', 'write', { page: { token: next_token } });
    const damaged = await page(10, `${next_token.slice(0, -2)}AA`);
    decider.client.solo.nowMs += 600_000;
    const old = await page(10, next_token);
    for (const { status, text } of [other, damaged, old, await page(10, 'x')])
      expect([status, text]).to.deep.equal([400, 'page.token does not belong to this request\n']);
    for (const limit of [-1, 1001, 1.5, '1'])
      expect((await page(limit as number)).status).to.equal(400);
  });

  it('agree with decisions on every id', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'é'), maxLength: 2 });
    const level = fc.constantFrom('read', 'list', 'write', 'deny');
    const place = fc.constantFrom('', 'o', 'orders/', 'orders/read', 'orders/read/');
    const rule = fc.tuple(fc.boolean(), place, name, level).map(([isPrefix, at, id, policy]) => {
      const whole = isPrefix && at !== 'orders/read/' ? at : `orders/read/${id}`;
      return `key${isPrefix ? '_prefix' : ''} "${whole}" { policy = "${policy}" }`;
    });
    const all = fc
      .array(rule, { maxLength: 8 })
      .map((rules) => [...new Map(rules.map((one) => [one.split(' {')[0], one])).values()]);
    await fc.assert(
      fc.asyncProperty(all, fc.array(name, { minLength: 1, maxLength: 12 }), async (rules, ids) => {
        const { SecretID: token } = await decider.token(rules.join('\n'));
        const { results, context } = (await resources(token, 'orders', 'read')).body;
        const exact = new Set(results.map(({ id }: Found) => id));
        const evaluations = ids.map((id) => ({ resource: { type: 'orders', id } }));
        const body = { subject: SELF, action: { name: 'read' }, evaluations };
        const decided = (await decider.ask('evaluations', body, { token })).body.evaluations;
        for (const [at, id] of ids.entries()) {
          const prefixes = context.prefixes as readonly Prefix[];
          const longest = prefixes.filter(({ prefix }) => id.startsWith(prefix)).at(-1);
          const isAllowed =
            exact.has(id) || (longest?.allow === true && !context.denied.includes(id));
          expect(decided[at].decision, `${id} by ${rules.join(' ')}`).to.equal(isAllowed);
        }
      }),
      { numRuns: 60 },
    );
  });
});
