/** Deliberate faults of revoked identities, events and last uses, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const TOKENS = 'state/tokens.js';
const STREAM = 'service/events/stream.js';
const WATCH = 'service/events/rights-watch.js';
const REVOKED = 'state/identity-blocks';
const EVENTS = 'service/event';
const OIDC = 'state/oidc';
const LOGIN = 'state/token-login.js';

const faults: readonly (readonly [fault: Mutation, suites: string])[] = [
  [
    one(
      'a restarted member whose notes of uses are asked for in the middle',
      'service/usage/exchange.js',
      'from > 0 && run !== knownRun',
      'false',
    ),
    'service/usage',
  ],
  [
    one(
      'a quiet reader of events that is told less than it has',
      STREAM,
      'this.#sendProgress(latest)',
      'this.#sendProgress(latest - 1)',
    ),
    EVENTS,
  ],
  [
    one(
      'a revoked token that lives until it is removed',
      TOKENS,
      '|| revokedIndex(view, token) !== undefined',
      '',
    ),
    REVOKED,
  ],
  [
    one(
      'a held read that outlives a revocation',
      TOKENS,
      'keys.method(ns, name),\n    keys.identityBlock(ns, name),',
      'keys.method(ns, name),',
    ),
    'service/identities',
  ],
  [
    one(
      'a login after a revocation that the revocation ends',
      LOGIN,
      'const { Made: before } = accountOf(draft, used);',
      'const before = 0;',
    ),
    REVOKED,
  ],
  [
    one(
      'a blocked identity that logs in meanwhile',
      LOGIN,
      'blockOf(draft, used, subject, nowMs) !== undefined',
      'false',
    ),
    REVOKED,
  ],
  [
    one(
      'a past in which a revoked token lives until it was removed',
      'state/history/past.js',
      '(RevokedAt !== undefined && RevokedAt <= this.index)',
      'false',
    ),
    REVOKED,
  ],
  [
    one(
      'events that heed no rights',
      'service/events/changes.js',
      'if (readDenial(authorizer, { type, ns, id }) !== undefined)',
      'if (false)',
    ),
    EVENTS,
  ],
  [
    one(
      'a reader of events that is sent what another may see',
      'service/events/pieces.js',
      'known?.authorizer === authorizer',
      'known !== undefined',
    ),
    EVENTS,
  ],
  [
    one(
      'an idle reader that skips what replaced the state',
      'service/events/hub.js',
      'return;\n        for (const stream of [...this.#streams])',
      'return;\n        this.#forget();\n        for (const stream of [...this.#streams])',
    ),
    EVENTS,
  ],
  [
    one(
      'a reader that is told of no rights that it had before',
      WATCH,
      'new Set([...this.#rested, ...this.#rests])',
      'new Set()',
    ),
    EVENTS,
  ],
  [
    one(
      'a reader that goes by what rights rested on at its start',
      WATCH,
      'this.isChanged = true;\n        this.isStale = true;',
      'this.isChanged = true;',
    ),
    EVENTS,
  ],
  [one('a gap that is not told', STREAM, 'if (forgotten <= this.#at)', 'if (true)'), EVENTS],
  [
    one(
      'a clean-up of tokens of which no use is known',
      'service/usage/usage.js',
      'if (isKnown || book.knowsFrom(unusedBefore))',
      'if (true)',
    ),
    'service/usage',
  ],
  [
    one(
      'a clean-up of tokens that have changed since',
      'state/token-gc.js',
      'token?.ModifyIndex !== index ||',
      'token === undefined ||',
    ),
    'service/usage',
  ],
  [
    one(
      'a login that is completed twice',
      LOGIN,
      'once !== undefined && isUsed(draft, once)',
      'false',
    ),
    OIDC,
  ],
  [
    one(
      'a login that replaces the token of another method',
      LOGIN,
      'isOfMethod(token, method) && ',
      '',
    ),
    OIDC,
  ],
  [
    one(
      'a replaced token that lives on',
      LOGIN,
      'if (replaced !== undefined)\n        removeToken(context, replaced);',
      '',
    ),
    OIDC,
  ],
  [
    one(
      'a used State that is forgotten before it is over',
      'state/oidc.js',
      "Number(key.split('\\u0000')[1]) > nowMs ||",
      '',
    ),
    OIDC,
  ],
  [
    one(
      'a key of logins that is replaced whenever a method is written',
      'state/oidc.js',
      'if (oidcKeys(draft) !== undefined)\n        return;',
      '',
    ),
    OIDC,
  ],
  [
    one(
      'a State whose spelling may vary',
      'service/oidc/seal.js',
      "bytes.toString('base64url') !== text ||",
      '',
    ),
    'service/oidc',
  ],
];

export const identityMutations: readonly Mutation[] = faults.map(([fault, suites]) =>
  unit(fault, suites),
);
