/** What the use cases of every ACL object do, whatever its definition. */
import { expect } from 'chai';
import { objectUseCases } from '../../src/service/acl/objects.js';
import { filterOf } from '../../src/service/common/filters.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { roles } from '../../src/state/roles.js';
import type { Command } from '../../src/state/types.js';
import { listItems } from './list-items.js';
import { callerOf, MANAGER, Solo } from './solo.js';

const SECRET = '99999999-aaaa-4aaa-8aaa-000000000001';
const NOW: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };

describe('an ACL object with a secret field', () => {
  const solo = new Solo();
  const useCases = objectUseCases(solo.service, { ...roles, secrets: ['Description'] });
  const write = { caller: MANAGER, ns: 'default', timeoutMs: 1000 };
  const query = { filter: filterOf(undefined) };
  let id: string;

  before(async () => {
    const { ID } = solo.must({
      type: 'policy.set',
      v: 1,
      ns: 'default',
      id: '99999999-aaaa-4aaa-8aaa-000000000002',
      create: true,
      policy: { Name: 'reader', Description: '', Rules: 'acl = "read"' },
      hash: '',
    } as Command);
    solo.must({
      type: 'token.create',
      v: 1,
      ns: 'default',
      accessor: '99999999-aaaa-4aaa-8aaa-000000000003',
      secret: SECRET,
      createTime: '2030-01-01T00:00:00Z',
      token: { Description: '', Policies: [{ ID }], Roles: [], Local: false },
    } as Command);
    const made = await useCases.write(write, undefined, { Name: 'r', Description: 'hush' });
    id = JSON.parse(made).ID;
  });

  for (const [who, caller, shown] of [
    ['shows it to writers', MANAGER, 'hush'],
    ['hides it from readers', callerOf(SECRET), '<hidden>'],
  ] as const) {
    it(`${who}, by id, by name and in lists`, async () => {
      const read = await solo.service.read(caller, NOW, useCases.read('default', id));
      const named = await solo.service.read(caller, NOW, useCases.readByName!('default', 'R'));
      const list = await solo.service.read(caller, NOW, useCases.list('default', query));
      const texts = [read.value!, named.value!, ...listItems(solo.store, list.value)];
      expect(texts.map((text) => JSON.parse(text).Description)).to.deep.equal([
        shown,
        shown,
        shown,
      ]);
    });
  }
});
