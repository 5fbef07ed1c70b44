import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../src/base/errors.js';
import type { ReadOptions, ReadUseCase } from '../../src/service/common/types.js';
import { browserMethods } from '../../src/service/oidc/logins.js';
import type { Command } from '../../src/state/types.js';
import { aCommand, fitted } from '../state/commands.js';
import { listItems } from './list-items.js';
import { callerOf, MANAGER, NOBODY, Solo } from './solo.js';
import { useCasesOf } from './use-cases.js';

const SECRET = '99999999-aaaa-4aaa-8aaa-000000000001';
const READER = callerOf(SECRET);
const now: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };
const query = { filter: () => undefined };
const { policy, role, token, method, rule, namespace } = useCasesOf({ nowMs: () => 0 });
const id = (kind: number) =>
  fc
    .integer({ min: 1, max: 3 })
    .map((n) => `${String(kind).padStart(8, '0')}-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`);

/** Two namespaces with the same names, and a token of `red` that manages only `red`. */
function twoNamespaces(commands: readonly Command[]): Solo {
  const solo = new Solo();
  const red = { Name: 'red', PolicyDefaults: [], RoleDefaults: [] };
  const policyId = '99999999-aaaa-4aaa-8aaa-000000000002';
  solo.must({ type: 'namespace.set', v: 1, policyId, namespace: red } as Command);
  solo.must({
    type: 'token.create',
    v: 1,
    ns: 'red',
    createTime: '2030-01-01T00:00:00Z',
    accessor: '99999999-aaaa-4aaa-8aaa-000000000003',
    secret: SECRET,
    token: { Description: '', Policies: [{ ID: policyId }], Roles: [], Local: false },
  } as Command);
  for (const command of commands) {
    if (!command.type.startsWith('namespace.')) solo.apply(fitted(command, solo.store));
  }
  return solo;
}

const TABLES = ['policy', 'role', 'token', 'method', 'rule', 'config', 'index', 'deleted'];
/** All objects of a namespace and the indexes of its lists, byte for byte. */
const contentOf = (solo: Solo, ns: string): string =>
  TABLES.flatMap((table) => [...solo.store.keys(`${table}\0`)])
    .filter((key) => key.split('\0')[/^(index|deleted)/.test(key) ? 2 : 1] === ns)
    .map((key) => `${key}=${solo.store.get(key)}`)
    .join('\n');

const READS = fc.oneof(
  id(1).map((one) => (ns: string) => policy.read(ns, one)),
  id(2).map((one) => (ns: string) => role.read(ns, one)),
  id(3).map((one) => (ns: string) => token.read(ns, one)),
  fc
    .constantFrom('a', 'b', '__proto__')
    .map((name) => (ns: string) => policy.readByName!(ns, name)),
  fc.constantFrom('a', 'b', '__proto__').map((name) => (ns: string) => method.read(ns, name)),
  fc.constant((ns: string) => policy.list(ns, query)),
  fc.constant((ns: string) => role.list(ns, query)),
  fc.constant((ns: string) => method.list(ns, query)),
  fc.constant((ns: string) => rule.list(ns, query)),
  fc.constant((ns: string) => token.list(ns, query)),
) as fc.Arbitrary<(ns: string) => ReadUseCase<unknown>>;

describe('namespaces are isolated', () => {
  it('a token may read nothing of another namespace', () => {
    const commands = fc.array(aCommand, { minLength: 20, maxLength: 60 });
    return fc.assert(
      fc.asyncProperty(commands, READS, async (made, read) => {
        const solo = twoNamespaces(made);
        const refused = await solo.service.read(READER, now, read('default')).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(refused).to.be.instanceOf(ApiError).with.property('status', 403);
        const own = await solo.service.read(READER, now, read('red')).catch((error) => error);
        if (own instanceof ApiError)
          expect(own.message).to.equal('token does not exist: ACL not found');
        else if (typeof own.value === 'string')
          expect(JSON.parse(own.value).Namespace).to.equal('red');
      }),
      { numRuns: 60 },
    );
  });

  it('lists over all namespaces show only the own one, and only its index', () => {
    const commands = fc.array(aCommand, { minLength: 20, maxLength: 60 });
    return fc.assert(
      fc.asyncProperty(commands, async (made) => {
        const solo = twoNamespaces(made);
        const { value, filtered } = await solo.service.read(READER, now, policy.list('*', query));
        expect(filtered).to.equal(true);
        for (const item of listItems(solo.store, value)) {
          expect(JSON.parse(item).Namespace).to.equal('red');
        }
        const list = await solo.service.read(READER, now, token.list('*', query));
        for (const item of listItems(solo.store, list.value)) {
          expect(JSON.parse(item).Namespace).to.equal('red');
        }
        const everything = await solo.service.read(MANAGER, now, policy.list('*', query));
        const namespaces = new Set(
          listItems(solo.store, everything.value).map((item) => JSON.parse(item).Namespace),
        );
        expect([...namespaces]).to.deep.equal(['default', 'red']);
      }),
      { numRuns: 30 },
    );
  });

  it('writes through one namespace change nothing in another', () => {
    const commands = fc.array(aCommand, { minLength: 20, maxLength: 40 });
    const one = fc.tuple(id(1), id(2), id(3), fc.constantFrom('a', 'b', '__proto__'));
    return fc.assert(
      fc.asyncProperty(commands, one, async (made, [policyId, roleId, accessor, Name]) => {
        const solo = twoNamespaces(made);
        const before = contentOf(solo, 'default');
        const on = useCasesOf({ service: solo.service, nowMs: () => 0 });
        const done = { red: 0, default: 0 };
        for (const ns of ['red', 'default'] as const) {
          const write = { caller: READER, ns, timeoutMs: 1000 };
          for (const attempt of [
            on.policy.write(write, policyId, { Name }),
            on.policy.write(write, undefined, { Name }),
            on.role.write(write, roleId, { Name, Policies: [{ ID: policyId }] }),
            on.token.write(write, undefined, { Policies: [{ ID: policyId }] }),
            on.token.write(write, undefined, {}),
            on.token.write(write, accessor, { Roles: [{ ID: roleId }] }),
            on.role.remove(write, roleId),
            on.policy.remove(write, policyId),
            on.token.remove(write, accessor),
          ]) {
            const succeeded = await attempt.then(
              () => 1,
              () => 0,
            );
            done[ns] += succeeded;
          }
        }
        expect(done.red).to.be.greaterThan(0);
        expect(done.default).to.equal(0);
        expect(contentOf(solo, 'default')).to.equal(before);
      }),
      { numRuns: 40 },
    );
  });

  it('only the right callers see and manage a namespace itself', async () => {
    const solo = twoNamespaces([]);
    const shown = await solo.service.read(READER, now, namespace.list('default', query));
    expect(listItems(solo.store, shown.value).map((item) => JSON.parse(item).Name)).to.deep.equal([
      'red',
    ]);
    expect(shown.filtered).to.equal(true);
    const read = (name: string) => solo.service.read(READER, now, namespace.read('default', name));
    expect(JSON.parse((await read('red')).value!).Name).to.equal('red');
    const why = await read('default').catch((error: ApiError) => error);
    expect(why).to.be.instanceOf(ApiError).with.property('status', 403);
    const missing = await solo.service.read(MANAGER, now, namespace.read('default', 'green'));
    expect(missing.value).to.equal(undefined);
  });
});

describe('the list of a login page', () => {
  const method = (Name: string, Type: string) =>
    ({
      type: 'method.set',
      v: 1,
      ns: 'red',
      method: { Name, Type, Config: {} },
    }) as unknown as Command;
  const list = async (solo: Solo, ns: string, caller = NOBODY) =>
    solo.service.read(caller, now, browserMethods(ns));

  it('tells strangers nothing of a namespace without such methods', async () => {
    const solo = twoNamespaces([method('a', 'jwt')]);
    expect(await list(solo, 'red')).to.deep.equal(await list(solo, 'blue'));
    expect((await list(solo, 'red', READER)).index).to.be.above(1);
  });

  it('tells strangers nothing of other methods', async () => {
    const solo = twoNamespaces([method('a', 'oidc')]);
    const before = await list(solo, 'red');
    expect(JSON.parse(before.value)).to.have.length(1);
    solo.must(method('b', 'jwt'));
    expect(await list(solo, 'red')).to.deep.equal(before);
    solo.must(method('a', 'oidc'));
    expect((await list(solo, 'red')).index).to.be.above(before.index);
  });
});
