/** What happens to auth methods and their logins while something else happens. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { methodUseCases } from '../../src/service/acl/auth-methods.js';
import type { AuthMethod } from '../../src/state/methods.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from './client.js';
import { LoginSetup, trusting } from './login-setup.js';

describe('a method with many long binding rules', () => {
  const RULES = 100;
  const TESTS = 250;
  /** More than the work took when it was one turn. How many there are depends on the machine. */
  const TURNS = 5;
  const RULE = { Description: '', AuthMethod: 'M', BindType: 'service', BindName: 'web' };

  /** Counts the turns of the event loop in which something else could run. */
  async function turnsOf(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let isOver = false;
    const count = async (): Promise<void> => {
      for (; !isOver; turns += 1) await nextTurn();
    };
    const counting = count();
    await work();
    isOver = true;
    await counting;
    return turns;
  }
  async function setUp(): Promise<LoginSetup> {
    const setup = new LoginSetup();
    await setup.method();
    for (let n = 0; n < RULES; n += 1) {
      const tests = Array.from({ length: TESTS }, (_, i) => `value.name == "${n}-${i}"`);
      setup.solo.must({
        type: 'rule.set',
        v: 1,
        ns: 'default',
        create: true,
        id: `0f0f0f0f-1111-4222-8333-${String(n).padStart(12, '0')}`,
        rule: { ...RULE, Selector: tests.join(' or ') },
      } as Command);
    }
    return setup;
  }

  it('lets others have their turns while it judges a login', async () => {
    const setup = await setUp();
    const last = `${RULES - 1}-${TESTS - 1}`;
    const turns = await turnsOf(async () => {
      expect((await setup.login(last)).ServiceIdentities).to.deep.equal([{ ServiceName: 'web' }]);
    });
    expect(turns).to.be.above(TURNS);
  });

  it('lets others have their turns while its rules are checked against a new Config', async () => {
    const setup = await setUp();
    const shape = trusting.shapeOf(undefined);
    const other = { ...shape, mapped: { value: ['name', 'more'] } };
    const shapes = [other, shape];
    const type = { ...trusting, shapeOf: () => shapes.shift() ?? shape };
    const written = methodUseCases({ ...setup.parts, methodTypes: new Map([['trusting', type]]) });
    // the shapes are asked for by NamespaceRules, and before and after the change
    shapes.unshift(shape);
    const body = { Name: 'M', Type: 'trusting' };
    const turns = await turnsOf(() => written.write(setup.write, undefined, body));
    expect(turns).to.be.above(TURNS);
  });
});

describe('a secret of an auth method that is kept by a write', () => {
  const stored = ({ solo }: LoginSetup): AuthMethod =>
    JSON.parse(solo.store.get('method\0default\0m')!) as AuthMethod;
  const body = (OIDCClientSecret: string, more: object = {}) => ({
    Name: 'M',
    Type: 'trusting',
    Config: { OIDCClientSecret },
    ...more,
  });

  /** Keeps the secret `old`, which becomes `new` while the issuer is asked. */
  async function overtaken(more: object = {}) {
    const setup = new LoginSetup();
    await methodUseCases(setup.parts).write(setup.write, undefined, body('old'));
    const { ModifyIndex } = stored(setup);
    const checkIssuer = async (): Promise<undefined> => {
      const command = { type: 'method.set', v: 1, ns: 'default', method: body('new') };
      setup.solo.must(command as unknown as Command);
    };
    const methodTypes = new Map([['trusting', { ...trusting, checkIssuer }]]);
    const written = methodUseCases({ ...setup.parts, methodTypes });
    const write = { ...setup.write, ...more };
    const kept = body('<hidden>', { Description: 'x' });
    const error = await written.write(write, undefined, kept).catch((why: unknown) => why);
    expect(error).to.be.instanceOf(ApiError);
    return { setup, status: (error as ApiError).status, ModifyIndex };
  }

  it('does not come back where another write has changed it meanwhile', async () => {
    const { setup, status } = await overtaken();
    expect(status).to.equal(409);
    expect(stored(setup).Config).to.deep.equal({ OIDCClientSecret: 'new' });
    const any = await overtaken({ match: 'any' });
    expect(any.status).to.equal(409);
    expect(stored(any.setup).Config).to.deep.equal({ OIDCClientSecret: 'new' });
  });

  it('is written with the version that the client names', async () => {
    const { setup, ModifyIndex } = await overtaken({ match: [1] });
    expect(ModifyIndex).to.be.above(1);
    expect(stored(setup).Config).to.deep.equal({ OIDCClientSecret: 'new' });
    const calm = new LoginSetup();
    await methodUseCases(calm.parts).write(calm.write, undefined, body('old'));
    const match = [stored(calm).ModifyIndex];
    const kept = body('<hidden>', { Description: 'x' });
    await methodUseCases(calm.parts).write({ ...calm.write, match }, undefined, kept);
    expect(stored(calm)).to.deep.include({ Config: { OIDCClientSecret: 'old' }, Description: 'x' });
  });
});

describe('a method with a key that is no longer accepted', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const method = { Name: 'M', Type: 'jwt', Config: configOf(publicKey) };
    client.solo.must({ type: 'method.set', v: 1, ns: 'default', method } as unknown as Command);
  });
  afterEach(() => client.close());

  const configOf = (key: KeyObject) => ({
    JWTValidationPubKeys: [key.export({ type: 'spki', format: 'pem' })],
    ClaimMappings: { name: 'name' },
  });

  it('can be repaired', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const Config = configOf(publicKey);
    await client.must('PUT /acl/auth-method/M', { Config });
    expect((await client.must('GET /acl/auth-method/M')).Config).to.deep.equal(Config);
  });

  it('makes no request fail', async () => {
    const rule = { AuthMethod: 'M', BindType: 'service', BindName: 'web-${value.name}' };
    expect((await client.ask('PUT /acl/binding-rule', rule)).status).to.equal(400);
    await client.must('PUT /acl/binding-rule', { ...rule, BindName: 'web' });
    await client.must('GET /acl/lint');
  });
});
