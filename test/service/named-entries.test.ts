/** Refusals of config entries that name others, as the leader may word them. */
import { expect } from 'chai';
import type { Authorizer } from '../../src/acl/types.js';
import { ApiError, type Refusal } from '../../src/base/errors.js';
import type { Service } from '../../src/service/common/types.js';
import { applyConfig, deleteConfig } from '../../src/service/config/config-entries.js';
import { MANAGER, Solo } from './solo.js';

const NAMED = { kind: 'service-router', name: 'secret' } as const;
const REWORDED = 'the service-router "secret" does not agree';

describe('service: entries named by the refusal of a change', () => {
  const write = { caller: MANAGER, ns: 'default', timeoutMs: 100, cas: null, datacenter: 'dc1' };
  const resolver = { Kind: 'service-resolver', Name: 'own' } as const;
  const solo = new Solo();

  /** Returns what a caller is told. `mayRead`: whether the caller may read the named entry. */
  async function told(why: Refusal, mayRead: boolean, change: 'apply' | 'delete' = 'apply') {
    const denies = (resource: string, access: string, name: unknown): Refusal | undefined =>
      mayRead || resource !== 'service' || access !== 'read' || name !== 'secret'
        ? undefined
        : { code: 'permission_denied', message: 'no' };
    const authorizer = { anywhere: () => true, denial: denies } as unknown as Authorizer;
    const service = {
      view: solo.store,
      permit: async () => authorizer,
      authorize: async () => authorizer,
      write: async () => {
        throw new ApiError(why);
      },
    } as Partial<Service> as Service;
    const work =
      change === 'apply'
        ? applyConfig(service, write, resolver)
        : deleteConfig(service, write, { kind: 'service-resolver', name: 'own' });
    return work.then(
      () => expect.fail('the change was accepted'),
      (error: unknown) => (error as ApiError).refusal,
    );
  }

  for (const code of ['conflict', 'invalid'] as const) {
    for (const change of ['apply', 'delete'] as const) {
      it(`stay unnamed in a ${code} of which only the words are known (${change})`, async () => {
        for (const mayRead of [true, false]) {
          const why = await told(
            { code, message: REWORDED, hint: 'ask "secret"' },
            mayRead,
            change,
          );
          expect(JSON.stringify(why)).not.to.contain('secret');
          expect(why.code).to.equal(code);
          expect(why.message).to.contain('service-resolver "own"');
        }
      });
    }

    it(`are named in a ${code} to callers who may read them, in any words`, async () => {
      const about = { kind: 'conflict', entry: NAMED, unnamed: 'an entry does not agree' } as const;
      const why = { code, message: REWORDED, about };
      expect(await told(why, true)).to.deep.equal(why);
      const hidden = await told(why, false);
      expect(JSON.stringify(hidden)).not.to.contain('secret');
      expect(hidden).to.deep.equal({ code, message: 'an entry does not agree' });
    });
  }

  it('of a kind that this release does not know stay unnamed', async () => {
    const entry = { kind: 'service-secret', name: 'secret' };
    const about = { kind: 'conflict', entry, unnamed: 'an entry does not agree' } as const;
    const why = await told({ code: 'conflict', message: REWORDED, about }, true);
    expect(why.message).to.equal('an entry does not agree');
  });

  it('do not hide what concerns only the entry that was sent', async () => {
    const why = { code: 'invalid', message: 'the own fault', about: { kind: 'own' } } as const;
    expect(await told(why, false)).to.deep.equal(why);
  });
});
