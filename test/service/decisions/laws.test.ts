/** Decisions equal enforcement and explanations, however they are asked for. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Asked } from '../../../src/acl/reasons.js';
import { SCALARS } from '../../../src/acl/types.js';
import { Sentences } from '../../../src/service/decisions/sentences.js';
import { LongWork } from '../../../src/service/reads/long-work.js';
import { secretKeyOf } from '../../../src/state/tokens.js';
import { ALL_QUESTIONS } from '../../acl/random-grants.js';
import type { Reply } from '../../support/authzen.js';
import { aState, built, SECRETS } from '../random-rights.js';
import type { Solo } from '../solo.js';
import { Decider } from './decider.js';

type State = Parameters<typeof built>[0];

/** Any id will do where none is looked at. */
const resourceOf = ({ resource, segment, namespace }: Asked) => ({
  type: resource,
  id: (SCALARS as readonly string[]).includes(resource) ? 'any' : segment,
  properties: { namespace },
});
const isOwnWord = ({ resource, segment }: Asked): boolean =>
  resource === 'key' && /^[^/]+\/[^/]+\//.test(segment);
const applications: readonly Asked[] = ['shop/buy/ü', 'a%2Fb/x/', 'shop/sell/1', 'web/a/b'].flatMap(
  (segment) =>
    ['default', 'team-a'].map((namespace) => {
      return { resource: 'key', access: 'read', segment, namespace } as const;
    }),
);
/** A question as an application asks it: in its own words where the key rules allow that. */
function evaluationOf(asked: Asked): object {
  if (!isOwnWord(asked)) return { action: { name: asked.access }, resource: resourceOf(asked) };
  const [type, action, ...id] = asked.segment.split('/');
  const word = type!.replace('%2F', '/');
  const resource = {
    type: `app:${word}`,
    id: id.join('/'),
    properties: resourceOf(asked).properties,
  };
  return { action: { name: action }, resource };
}

interface Explained {
  readonly Allow: boolean;
  readonly Text: string;
}
interface Decided {
  readonly decision: boolean;
  readonly context: { readonly code: string; readonly reason_admin: { readonly en: string } };
}
const decidedIn = ({ status, text, body }: Reply): readonly Decided[] => {
  expect(status, text).to.equal(200);
  return body.evaluations;
};

describe('decisions over a state', () => {
  /** Runs a check with a node that has a state. */
  const over = async (
    { solo, defaultPolicy }: { solo: Solo; defaultPolicy: 'deny' | 'allow' },
    run: (decider: Decider) => Promise<void>,
  ): Promise<void> => {
    const longWork = new LongWork();
    const { authorizers } = solo;
    const sentences = new Sentences({ authorizers, defaultPolicy, longWork });
    const decider = await Decider.open({ solo, defaultPolicy, longWork, sentences });
    try {
      await run(decider);
    } finally {
      await decider.close();
    }
  };
  const sampled = fc.shuffledSubarray([...ALL_QUESTIONS], { minLength: 80, maxLength: 80 });

  it('are those of enforcement and explain, with the same sentence', async () => {
    await fc.assert(
      fc.asyncProperty(
        aState,
        sampled,
        fc.constantFrom(...SECRETS),
        async (state, some, secret) => {
          const solo = built(state);
          const { defaultPolicy } = state;
          const questions = [...some, ...applications];
          await over({ solo, defaultPolicy }, async (decider) => {
            const subject = { type: 'token_secret', id: secret };
            const evaluations = questions.map(evaluationOf);
            const decided = decidedIn(
              await decider.ask('evaluations?reasons=all', { subject, evaluations }),
            );
            const authorizer = solo.authorizers.of(secretKeyOf(secret))!;
            for (const [at, asked] of questions.entries()) {
              const { resource, access, segment, namespace } = asked;
              const { decision, context } = decided[at]!;
              const what = `${JSON.stringify(asked)} ${JSON.stringify(context)}`;
              const isAllowed = authorizer.allowed(resource, access, segment, namespace);
              expect(decision, what).to.equal(isAllowed);
              expect(context.code, what).to.equal(isAllowed ? 'allowed' : 'denied');
            }
            // The token itself needs no right to be explained.
            const Requests = questions.slice(0, 40).map((asked) => {
              const { resource, access, segment, namespace } = asked;
              return { Resource: resource, Access: access, Segment: segment, Namespace: namespace };
            });
            const call = 'POST /acl/authorize/explain';
            const { Results } = await decider.client.must(call, { Requests }, secret);
            const explained = Results.map(({ Allow, Text }: Explained) => [Allow, Text]);
            const answered = decided.map(({ decision, context }) => {
              return [decision, context.reason_admin.en];
            });
            expect(answered.slice(0, 40)).to.deep.equal(explained);
          });
        },
      ),
      { numRuns: 12 },
    );
  }).timeout(120_000);

  it('are the same alone and in a batch, in every mode, by every name of a token', async () => {
    const run = async (state: State, some: readonly Asked[], secret: string): Promise<void> => {
      const solo = built(state);
      const { defaultPolicy } = state;
      const questions = some.slice(0, 10).map(evaluationOf);
      await over({ solo, defaultPolicy }, async (decider) => {
        const of = async (subject: object, mode: string, sent = {}) => {
          const body = { subject, evaluations: questions };
          const items = decidedIn(await decider.ask(`evaluations?${mode}`, body, sent));
          return items.map(({ decision }) => decision);
        };
        const subject = { type: 'token_secret', id: secret };
        const first = await of(subject, '');
        for (const mode of ['stale', 'consistent'])
          expect(await of(subject, mode)).to.deep.equal(first);
        expect(await of({ type: 'token', id: 'self' }, '', { token: secret })).to.deep.equal(first);
        const own = 'GET /acl/token/self';
        const { AccessorID: id } = await decider.client.must(own, undefined, secret);
        expect(await of({ type: 'token', id }, '')).to.deep.equal(first);
        for (const [at, question] of questions.entries()) {
          const { body } = await decider.ask('evaluation', { subject, ...question });
          expect(body.decision).to.equal(first[at]);
        }
      });
    };
    const property = fc.asyncProperty(aState, sampled, fc.constantFrom(...SECRETS), run);
    await fc.assert(property, { numRuns: 12 });
  }).timeout(120_000);
});
