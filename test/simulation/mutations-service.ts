/** Deliberate faults of commands and blocking queries of the product, for `mutations.ts`. */
import { type Mutation, one } from './mutation.js';

const withProduct = (mutation: Mutation): Mutation => ({ ...mutation, product: true });

export const serviceMutations: readonly Mutation[] = [
  one(
    'a token made at the time of its node',
    'state/token-commands.js',
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
].map(withProduct);
