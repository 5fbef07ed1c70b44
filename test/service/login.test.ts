import { expect } from 'chai';
import { ApiError, reject } from '../../src/base/errors.js';
import { methodUseCases } from '../../src/service/acl/auth-methods.js';
import { ruleUseCases } from '../../src/service/acl/binding-rules.js';
import { roleUseCases } from '../../src/service/acl/roles.js';
import { readOwnToken } from '../../src/service/acl/token-reads.js';
import { cloneToken } from '../../src/service/acl/tokens.js';
import type { Service } from '../../src/service/common/types.js';
import { login, logout } from '../../src/service/login/login.js';
import type { AuthMethodType } from '../../src/service/login/types.js';
import { ACL_DEFAULTS } from '../../src/state/login-limits.js';
import type { Command } from '../../src/state/types.js';
import { listItems } from './list-items.js';
import { LoginSetup, trusting } from './login-setup.js';
import { callerOf, MANAGER, NOBODY } from './solo.js';

describe('login', () => {
  it('creates a token from all matching rules, with the lifetime of the method', async () => {
    const setup = new LoginSetup();
    await setup.method({ MaxTokenTTL: 120e9 });
    await roleUseCases(setup.solo.service).write(setup.write, undefined, { Name: 'r-web' });
    await setup.rule('service', '${value.name}');
    await setup.rule('role', 'r-${value.name}');
    await setup.rule('service', 'never', { Selector: 'value.name == other' });
    const token = await setup.login('Web', { Meta: { b: '2', a: '1', '10': 'x' } });
    expect(token).to.deep.include({
      Description: 'token created via login: {"10":"x","a":"1","b":"2"}',
      ServiceIdentities: [{ ServiceName: 'web' }],
      AuthMethod: 'M',
      AuthMethodNamespace: 'default',
      Local: true,
      Namespace: 'default',
    });
    expect(token.Roles).to.have.lengthOf(1);
    expect(token.Roles[0].Name).to.equal('r-web');
    const life = Date.parse(token.ExpirationTime) - Date.parse(token.CreateTime);
    expect(life).to.equal(120_000);
    setup.solo.nowMs += 120_000;
    const own = readOwnToken(callerOf(token.SecretID).tokenKey, false);
    const now = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 0 } as const;
    const gone = await setup.solo.service.read(callerOf(token.SecretID), now, own).catch((e) => e);
    expect(gone).to.be.instanceOf(ApiError).with.property('status', 403);
  });

  it('strips whitespace around the bearer token, since it may come from a file', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 's-${value.name}');
    const token = await setup.login(' \t\r\nweb\r\n\n ');
    expect(token.ServiceIdentities).to.deep.equal([{ ServiceName: 's-web' }]);
  });

  it('lower-cases only ASCII letters when it computes names', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 's-${value.name}');
    const token = await setup.login('WEB');
    expect(token.ServiceIdentities).to.deep.equal([{ ServiceName: 's-web' }]);
    // The Kelvin sign, whose lower case is a small k.
    expect(await setup.refused('\u212a8s')).to.equal('Permission denied');
    expect(setup.reasons.at(-1)).to.contain('invalid bind name: "s-\u212a8s"');
  });

  it('does not grant a role whose name matches only by Unicode lower-casing', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await roleUseCases(setup.solo.service).write(setup.write, undefined, { Name: 'r-mark' });
    await setup.rule('role', 'r-${value.name}');
    expect(await setup.refused('mar\u212a')).to.equal('Permission denied');
    // Letter case does not count, as documented.
    for (const name of ['mark', 'MARK'])
      expect((await setup.login(name)).Roles[0].Name).to.equal('r-mark');
  });

  it('warns about methods whose tokens never expire when they are written', async () => {
    const setup = new LoginSetup();
    const warning = 'an auth method without MaxTokenTTL makes tokens that never expire';
    await setup.method({ MaxTokenTTL: 120e9 });
    await setup.method({ TokenLocality: 'no' }).catch(() => {});
    expect(setup.warnings).to.deep.equal([]);
    await setup.method();
    expect(setup.warnings.splice(0)).to.deep.equal([
      { event: 'tokens_never_expire', authMethod: 'M', namespace: 'default', message: warning },
    ]);
    await setup.rule('service', 'web');
    for (let n = 0; n < 3; n++) await setup.login('x');
    const configuration = { ...ACL_DEFAULTS, LoginTokenTTLMax: '1h0m0s' };
    setup.solo.must({ type: 'acl.configure', v: 1, configuration } as Command);
    await setup.method();
    expect(setup.warnings).to.deep.equal([]);
  });

  it('counts refused logins, even of unknown methods, and logs some of them', async () => {
    const setup = new LoginSetup();
    await setup.method();
    for (let n = 0; n < 30; n++) await setup.refused('');
    for (let n = 0; n < 30; n++) await setup.login('x', { AuthMethod: `x-${n}` }).catch(() => {});
    await setup.refused('web');
    const { counts } = setup.parts.refusals;
    expect(counts.get('token')).to.equal(30);
    expect(counts.get('method_unknown')).to.equal(30);
    expect(counts.get('binding')).to.equal(1);
    expect(setup.reasons).to.have.lengthOf(21);
  });

  it('that changes of its method overtake is judged again, by the new one', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 'web');
    let changes = 5;
    let verified = 0;
    setup.types.set('trusting', {
      ...trusting,
      validate: async (...asked) => {
        verified += 1;
        if (changes-- > 0) await setup.method({ Config: { changes } });
        return trusting.validate(...asked);
      },
    });
    const { ServiceIdentities } = await setup.login('a');
    expect(ServiceIdentities).to.deep.equal([{ ServiceName: 'web' }]);
    expect([setup.reasons, verified]).to.deep.equal([[], 6]);
    changes = 6;
    const error = await setup.login('a').catch((why: unknown) => why);
    expect(error).to.be.instanceOf(ApiError).with.property('refusal').that.deep.equals({
      code: 'conflict',
      message: 'The auth method kept changing while the login was verified: try again',
    });
    expect(setup.reasons).to.deep.equal([
      'the auth method, what the login binds, or its namespace was changed meanwhile',
    ]);
  });
  it('is not verified again if its method was written as it was', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 'web');
    let verified = 0;
    setup.types.set('trusting', {
      ...trusting,
      validate: async (...asked) => {
        verified += 1;
        await setup.method({ Description: String(verified) });
        return trusting.validate(...asked);
      },
    });
    await setup.login('a');
    expect(verified).to.equal(1);
  });

  it('beyond the limit of its identity is refused locally and by apply, and counted', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 'web');
    const before = setup.solo.store.pin();
    const configuration = { ...ACL_DEFAULTS, TokensPerIdentity: 1 };
    setup.solo.must({ type: 'acl.configure', v: 1, configuration } as Command);
    await setup.login('web');
    expect(await setup.refused('web')).to.equal('Permission denied');
    const index = setup.solo.machine.appliedIndex();
    // A node that has not seen the other login yet.
    const { service } = setup.solo;
    const write: Service['write'] = (...asked) => service.write(...asked);
    const late = { view: before, catchUp: async () => {}, write } as unknown as Service;
    const asked = { ns: 'default', timeoutMs: 1000 };
    const body = { AuthMethod: 'M', BearerToken: 'web' };
    const error = await login({ ...setup.parts, service: late }, asked, body).catch((why) => why);
    expect(error.refusal).to.deep.equal({
      code: 'permission_denied',
      message: 'Permission denied',
    });
    expect(setup.solo.machine.appliedIndex()).to.equal(index + 1);
    expect(setup.parts.refusals.counts.get('token_limit')).to.equal(2);
    expect(setup.reasons).to.have.lengthOf(2);
    for (const reason of setup.reasons)
      expect(reason)
        .to.match(/^token_limit: /)
        .and.not.match(/web/);
    // Words alone of the leader say nothing.
    late.write = async () => reject('permission_denied', 'too many tokens');
    const worded = login({ ...setup.parts, service: late }, asked, body);
    expect((await worded.catch((why) => why)).message).to.match(/^The auth method kept changing/);
    before.close();
  });

  it('logs the reason for a refusal, and tells the caller nothing about it', async () => {
    const setup = new LoginSetup();
    await setup.method();
    expect(await setup.refused('')).to.equal('Permission denied');
    expect(await setup.refused('web')).to.equal('Permission denied');
    await setup.rule('role', 'nope');
    expect(await setup.refused('web')).to.equal('Permission denied');
    await setup.rule('service', '${value.name}');
    expect(await setup.refused('not valid!')).to.equal('Permission denied');
    expect(setup.reasons[0]).to.equal('nobody');
    expect(setup.reasons[1]).to.match(/none of the 0/);
    expect(setup.reasons[2]).to.match(/no role "nope"/);
    expect(setup.reasons[3]).to.match(/invalid bind name/);
    const unknown = await setup.login('web', { AuthMethod: 'x' }).catch((why: unknown) => why);
    expect((unknown as ApiError).message).to.equal('ACL not found: auth method "x" not found');
  });

  it('creates the token where NamespaceRules say, with the roles of that namespace', async () => {
    const setup = new LoginSetup();
    const namespace = { Name: 'red', PolicyDefaults: [], RoleDefaults: [] };
    setup.solo.must({ type: 'namespace.set', v: 1, policyId: 'm', namespace } as Command);
    const NamespaceRules = [
      { Selector: 'value.name == nobody', BindNamespace: 'default' },
      { Selector: '', BindNamespace: '${value.name}' },
    ];
    await setup.method({ NamespaceRules });
    await roleUseCases(setup.solo.service).write({ ...setup.write, ns: 'red' }, undefined, {
      Name: 'r',
    });
    await setup.rule('role', 'r');
    const token = await setup.login('red');
    expect(token).to.deep.include({ Namespace: 'red', AuthMethodNamespace: 'default' });
    expect(token.Roles[0].Name).to.equal('r');
    const missing = await setup.login('blue').catch((why: unknown) => why);
    expect((missing as ApiError).status).to.equal(403);
    setup.solo.must({ type: 'method.delete', v: 1, ns: 'default', name: 'm' } as Command);
    expect(setup.solo.authorizers.of(callerOf(token.SecretID).tokenKey)).to.equal(undefined);
  });

  it('is refused like any other if the namespace of NamespaceRules is missing', async () => {
    const setup = new LoginSetup();
    const NamespaceRules = [{ Selector: '', BindNamespace: '${value.name}' }];
    await setup.method({ NamespaceRules });
    await setup.rule('service', 'web');
    expect(await setup.refused('nowhere')).to.equal('Permission denied');
    expect(setup.reasons).to.deep.equal(['Namespace "nowhere" does not exist']);
    const namespace = { Name: 'red', PolicyDefaults: [], RoleDefaults: [] };
    setup.solo.must({ type: 'namespace.set', v: 1, policyId: 'm', namespace } as Command);
    setup.solo.must({ type: 'namespace.delete', v: 1, name: 'red', at: '' } as Command);
    expect(await setup.refused('red')).to.equal('Permission denied');
    expect(setup.reasons[1]).to.match(/being deleted/);
  });

  it('refuses NamespaceRules that never match or name an invalid namespace', async () => {
    const setup = new LoginSetup();
    const refusal = async (rule: object): Promise<string> => {
      const tried = setup.method({ NamespaceRules: [rule] });
      const error = await tried.catch((why: unknown) => why);
      expect(error).to.be.instanceOf(ApiError).with.property('status', 400);
      return (error as ApiError).message;
    };
    const unmapped = { Selector: 'value.nam == x', BindNamespace: 'a' };
    expect(await refusal(unmapped)).to.match(/value\.nam.*no claim mapping.*did you mean "name"/);
    expect(await refusal({ BindNamespace: 'Team_A' })).to.match(/"Team_A" cannot be a namespace/);
    expect(await refusal({ BindNamespace: '${value.x}' })).to.match(/unknown variable/);
  });

  it('creates tokens that cannot be cloned, and that can log out', async () => {
    const setup = new LoginSetup();
    await setup.method();
    await setup.rule('service', 'web');
    const { service } = setup.solo;
    const token = await setup.login('x');
    const copy = { body: {}, nowMs: 0 };
    const cloned = cloneToken(service, setup.write, token.AccessorID, copy);
    const clone = await cloned.catch((e) => e);
    expect(clone.message).to.match(/Cannot clone a token created from an auth method/);
    const ask = (caller = callerOf(token.SecretID)) => {
      const leaver = { caller, secret: caller.tokenKey, timeoutMs: 1000 };
      return logout(service, leaver).catch((why: ApiError) => why.status);
    };
    expect(await ask(NOBODY)).to.equal(401);
    expect(await ask(MANAGER)).to.equal(403);
    expect(await ask()).to.equal('true');
    expect(await ask()).to.equal(403);
  });

  it('lists methods without their Config', async () => {
    const setup = new LoginSetup();
    await setup.method({ Config: { ServiceAccountJWT: 'secret' } });
    const now = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 0 } as const;
    const { value } = await setup.solo.service.read(
      MANAGER,
      now,
      methodUseCases(setup.parts).list('default', { filter: () => undefined }),
    );
    expect(listItems(setup.solo.store, value).join())
      .to.include('"Name":"M"')
      .and.not.include('secret');
  });
});

describe('an auth method that stops mapping a claim', () => {
  const mapping: AuthMethodType = {
    ...trusting,
    name: 'mapping',
    shapeOf: (config) => ({
      ...trusting.shapeOf(config),
      mapped: { value: (config as { names: string[] }).names },
      variables: (config as { names: string[] }).names.map((name) => `value.${name}`),
    }),
  };
  const setUp = async () => {
    const setup = new LoginSetup();
    setup.types.set('mapping', mapping);
    const write = (names: string[]) => setup.method({ Type: 'mapping', Config: { names } });
    await write(['name', 'team']);
    return { setup, write };
  };

  it('is refused while a binding rule needs it, naming the rule', async () => {
    const { setup, write } = await setUp();
    const rule = JSON.parse(
      await setup.rule('service', 'web', { Selector: 'value.team != intruders' }),
    );
    const error = (await write(['name']).catch((why: unknown) => why)) as ApiError;
    expect(error.refusal).to.include({ code: 'conflict', pointer: '/Config' });
    expect(error.message).to.include(rule.ID).and.to.include('"value.team"');
    await write(['name', 'team', 'more']);
  });

  /** A node that has not applied what others acknowledged since, until it catches up. */
  const lateNode = ({ solo: { service, store } }: LoginSetup) => {
    const behind = store.pin();
    let view: Service['view'] = behind;
    const late = {
      get view() {
        return view;
      },
      async catchUp() {
        view = service.view;
      },
      permit: (...asked: Parameters<Service['permit']>) => service.permit(...asked),
      write: (...asked: Parameters<Service['write']>) => service.write(...asked),
    } as unknown as Service;
    return { late, close: () => behind.close() };
  };
  const messageOf = (written: Promise<string>): Promise<string> =>
    written.catch((why: ApiError) => why.message);

  it('is judged by the rules that other nodes have acknowledged', async () => {
    const { setup } = await setUp();
    const { late, close } = lateNode(setup);
    await setup.rule('service', 'web', { Selector: 'value.team != intruders' });
    const fewer = { Name: 'M', Type: 'mapping', Config: { names: ['name'] } };
    const written = methodUseCases({ ...setup.parts, service: late });
    expect(await messageOf(written.write(setup.write, undefined, fewer))).to.include('value.team');
    close();
  });

  it('and its type by the method that other nodes have acknowledged', async () => {
    const { setup } = await setUp();
    const { late, close } = lateNode(setup);
    await setup.method({ Name: 'New' });
    const other = { Name: 'New', Type: 'mapping', Config: { names: [] } };
    const written = methodUseCases({ ...setup.parts, service: late });
    expect(await messageOf(written.write(setup.write, undefined, other))).to.equal(
      'the Type field of an Auth Method is immutable',
    );
    close();
  });

  it('is what a new rule is judged by, even if another node has written it', async () => {
    const { setup, write } = await setUp();
    const { late, close } = lateNode(setup);
    await write(['name']);
    const rules = ruleUseCases({ ...setup.parts, lint: 'warn', service: late });
    const body = { AuthMethod: 'M', BindType: 'service', BindName: 'web' };
    const asked = { ...body, Selector: 'value.team != intruders' };
    expect(await messageOf(rules.write(setup.write, undefined, asked))).to.include('value.team');
    close();
  });

  it('makes a rule that was added in between match nobody', async () => {
    const { setup, write } = await setUp();
    await write(['name']);
    const stale = { Description: '', AuthMethod: 'M', Selector: 'value.team != intruders' };
    const command = { type: 'rule.set', v: 1, ns: 'default' };
    setup.solo.must({
      ...command,
      id: '0f0f0f0f-1111-4222-8333-444444444444',
      create: true,
      rule: { ...stale, BindType: 'service', BindName: 'web' },
    } as Command);
    await setup.refused('anybody');
  });
});
