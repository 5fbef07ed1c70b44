/** Deliberate faults of commands and blocking queries of the product, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const withProduct = (mutation: Mutation): Mutation => ({ ...mutation, product: true });

const AUTHORIZERS = 'service/rights/authorizers.js';
const NODE_SERVICE = 'service/reads/node-service.js';
const rights: readonly Mutation[] = [
  one(
    'cached rights that outlive a change of what a token links',
    'service/rights/rights-cache.js',
    'for (const id of this.#dependants.of(key))',
    'for (const id of [])',
  ),
  one(
    'cached tokens that outlive their change',
    AUTHORIZERS,
    'for (const tokenKey of this.#dependants.of(key))',
    'for (const tokenKey of [])',
  ),
  one(
    'one cached token of a hundred that outlives its change',
    AUTHORIZERS,
    'for (const tokenKey of this.#dependants.of(key))',
    'for (const tokenKey of this.#dependants.of(key)) ' +
      'if ((globalThis.forgotten = (globalThis.forgotten ?? 0) + 1) % 100)',
  ),
  one(
    'a cache that counts from the answer, not from the question',
    '../clients/typescript/src/feed.js',
    'this.#listener.onAnswer({ sentAt, index,',
    'this.#listener.onAnswer({ sentAt: clock.now(), index,',
  ),
  one(
    'a cache that stays fresh for too long',
    '../clients/typescript/src/cache.js',
    'this.#options = { freshFor,',
    'this.#options = { freshFor: 3 * freshFor,',
  ),
  one('cached tokens that outlive a restore', AUTHORIZERS, 'this.#cached.clear();', ''),
  one('cached rights that outlive a restore', AUTHORIZERS, 'this.#shared.clear();', ''),
  {
    name: 'a read by the rights from before its barrier',
    changes: [
      {
        file: NODE_SERVICE,
        find: 'async read(caller, options, useCase) {',
        replace:
          'async read(caller, options, useCase) {\n' +
          'const early = this.#authorizers.cached(caller.tokenKey);',
      },
      {
        file: NODE_SERVICE,
        find: 'const known = this.#authorizers.cached(caller.tokenKey);',
        replace: 'const known = early;',
      },
    ],
  },
  one(
    'a write by rights from before what was committed when it came',
    'replica/writes/leader-writes.js',
    'const index = Math.max(this.#leads.firstIndex, commit);',
    'const index = this.#leads.firstIndex;',
  ),
  one(
    'a default read without a barrier',
    NODE_SERVICE,
    "if (options.mode === 'stale')",
    "if (options.mode !== 'consistent')",
  ),
  {
    name: 'parsed rules that outlive their policy',
    changes: [
      { file: AUTHORIZERS, find: 'this.#policies.delete(key);', replace: ';' },
      {
        file: 'service/rights/origins.js',
        find: 'known?.text === text',
        replace: 'known !== undefined',
      },
    ],
  },
];

const commands: readonly Mutation[] = [
  one(
    'a token made at the time of its node',
    'state/token-content.js',
    'CreateTime: createTime,',
    'CreateTime: String(performance.now()),',
  ),
  one(
    'a reader of an entry that waits for nothing',
    'service/config/config-entries.js',
    'return { value, index: modifyIndexOf(text), keys: [key] };',
    'return { value, index: modifyIndexOf(text), keys: [] };',
  ),
  one(
    'a blocking query that forgets the first of its keys',
    'replica/reads/watches.js',
    'for (const key of keys)\n            this.#placeOf(key).groups.add(group);',
    'for (const key of keys.slice(1))\n            this.#placeOf(key).groups.add(group);',
  ),
];

const RESPELL = 'languages/respell.js';
const names: readonly Mutation[] = [
  one(
    'two spellings of one field, of which the last counts',
    RESPELL,
    'if (before !== undefined)\n            how.twice(path, before, key);',
    '',
  ),
  one(
    'a key of a map that is taken for the name of a field',
    RESPELL,
    '.map(([key, value]) => [key, inner(value, type, key)])',
    '.map(([key, value]) => [key.toLowerCase(), inner(value, type, key)])',
  ),
  one(
    'names in another letter case that are taken although names are exact',
    'http/request/request.js',
    "if (this.front.options.fieldNames === 'exact')",
    'if (false)',
  ),
  one(
    'names in a list that are not brought to those of its items',
    RESPELL,
    'return item === undefined ? input :',
    'return true ? input :',
  ),
].map((fault) => unit(fault, 'service/field-names'));

export const serviceMutations: readonly Mutation[] = [
  ...[...commands, ...rights.map((mutation): Mutation => ({ ...mutation, rights: true }))].map(
    withProduct,
  ),
  ...names,
];
