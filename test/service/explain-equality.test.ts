import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../src/acl/steps.js';
import { explained, ownToken, subjectOf } from '../../src/service/explain/subject.js';
import { stepOf } from '../../src/service/rights/origins.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import { ALL_QUESTIONS } from '../acl/random-grants.js';
import { aState, built, SECRETS } from './random-rights.js';
import { partsOf } from './serve.js';

describe('explanations over a state', () => {
  it('decide as enforcement does, for every token and question', () => {
    fc.assert(
      fc.property(aState, (state) => {
        const solo = built(state);
        const { defaultPolicy } = state;
        const parts = { ...partsOf(solo), defaultPolicy };
        for (const tokenKey of [...SECRETS.map(secretKeyOf), null]) {
          const token = ownToken(solo.store, { tokenKey })!;
          const subject = atOnce(subjectOf(parts, () => ({ token, first: stepOf(token) })))!;
          for (const asked of ALL_QUESTIONS) {
            const { resource, access, segment, namespace } = asked;
            const question = [resource, access, segment, namespace] as const;
            // Throws if the two differ.
            const { Allow } = atOnce(explained(subject, asked));
            const enforced = solo.authorizers.of(tokenKey)!.allowed(...question);
            expect(Allow, JSON.stringify(asked)).to.equal(enforced);
          }
        }
      }),
      { numRuns: 25 },
    );
  }).timeout(120_000);

  it('that differ from enforcement are never shown', () => {
    const asked = { resource: 'acl', access: 'read', segment: '', namespace: 'default' } as const;
    const [state] = fc.sample(aState, 1);
    const solo = built({ ...state!, defaultPolicy: 'deny' });
    const token = ownToken(solo.store, { tokenKey: null })!;
    const subject = atOnce(subjectOf(partsOf(solo), () => ({ token, first: stepOf(token) })))!;
    const authorizer = { ...subject.authorizer, anonymous: true, allowed: () => true };
    expect(() => atOnce(explained({ ...subject, authorizer }, asked))).to.throw(
      /^enforcement allows what its explanation denies, token .*: acl:read is denied/,
    );
  });
});
