/** What the server takes for an absent member, its schemas take too. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { sentEntry } from '../../src/api/document/kind-schemas.js';
import { KINDS, type Kind } from '../../src/kinds/types.js';
import { decodeEntry } from '../kinds/decode-entry.js';

interface Row {
  readonly input: { readonly Kind?: Kind; readonly kind?: Kind };
  readonly accepted: boolean;
}
const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as Row[];
const bodies = [
  ...rows.filter(({ accepted }) => accepted).map(({ input }) => input),
  // The source of certificates is checked for each service.
  { Kind: 'ingress-gateway', Name: 'g', TLS: { SDS: { CertResource: 'x' } } } as const,
];
const EMPTY: readonly unknown[] = [null, {}, [], '', 0, false];

type Path = readonly string[];

/** Yields the place of each member of a value, at every level. */
function* placesIn(value: unknown, at: Path = []): Iterable<Path> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [...at, key];
    yield* placesIn(inner, [...at, key]);
  }
}

/** Returns a copy of a body with another value at one place. */
function replaced<T extends object>(body: T, path: Path, value: unknown): T {
  const copy = structuredClone(body);
  let at = copy as Record<string, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  at[path.at(-1)!] = value;
  return copy;
}

describe('openapi: empty members', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const kind of KINDS) {
    const own = bodies.filter((body) => ('kind' in body ? body.kind : body.Kind) === kind);
    it(`of ${kind}: the schema takes what the server takes`, () => {
      const check = ajv.compile(sentEntry(kind));
      const isTaken = (body: object): boolean => decodeEntry(body, { namespace: 'default' }).ok;
      const refused: string[] = [];
      let taken = 0;
      for (const body of own) {
        const variants = [...placesIn(body)].flatMap((path) =>
          EMPTY.map((value) => replaced(body, path, value)),
        );
        for (const each of [body, ...variants]) {
          if (!isTaken(each)) continue;
          taken += 1;
          if (!check(each))
            refused.push(`${JSON.stringify(each)}: ${ajv.errorsText(check.errors)}`);
        }
      }
      expect(refused).to.deep.equal([]);
      expect(taken > 0).to.equal(own.length > 0);
    });
  }
});
