/** Tokens from elsewhere by chance, which meet those that are there. */
import { keys } from '../../src/state/keys.js';
import { tokenByAccessor } from '../../src/state/tokens.js';
import type { Draw } from './random-commands.js';

const AT = '2030-01-01T00:00:00Z';
const sourceOf = ({ random }: Draw): string => random.pick(['dc1', 'dc2']);

interface Made {
  readonly ns: string;
  readonly accessor: string;
  readonly secret: string;
  readonly token: object;
}

/** An import of tokens that `make` makes; of those that are there, most have their secrets. */
export function importOf(draw: Draw, make: () => object): object {
  const { random, view } = draw;
  const some = <T>(of: () => T): T[] => Array.from({ length: random.int(3) }, of);
  const imported = (): object => {
    const made = make() as Made;
    const there = random.chance(0.7) ? tokenByAccessor(view, made.accessor) : undefined;
    const isOfLogin = random.chance(0.3);
    const { Namespace: ns = made.ns, SecretID: secret = made.secret } = there ?? {};
    return {
      ...made,
      ns,
      secret,
      token: { ...made.token, ...(there && { Local: there.Local }) },
      ...(isOfLogin && { method: { ns, name: random.pick(['m1', 'M1', 'm2']) } }),
      ...(isOfLogin && random.chance(0.5) && { subject: `user-${random.int(4)}` }),
    };
  };
  const deleted = (): object => {
    const { ns, accessor } = make() as Made;
    const home = view.get(keys.tokenAccessor(accessor));
    return { ns: home ?? ns, accessor };
  };
  return {
    source: sourceOf(draw),
    takeOver: random.chance(0.5),
    nowMs: Date.parse(AT),
    tokens: some(imported),
    deletes: some(deleted),
  };
}

/** A release of tokens that imports may have made. */
export const releaseOf = (draw: Draw): object => ({
  owner: `migrate/${sourceOf(draw)}`,
  objects: [...draw.view.keys('owner\0token\0')].slice(0, 5).map((key) => {
    const [, , ns, id] = key.split('\0');
    return { table: 'token', ns, id };
  }),
});
