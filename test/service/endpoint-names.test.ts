/** `http.fieldNames` `anyCase`: every endpoint takes what it takes otherwise, in any spelling. */
import { expect } from 'chai';
import { ENDPOINTS } from '../hostile/endpoints.js';
import type { Reply } from '../support/client.js';
import type { SoloClient } from './client.js';
import { askSpelled, openWith } from './spelled-client.js';

/** Members whose own names are the user's, or that take any letter case in every mode. */
const DATA = /^(?:Meta|Config|Claims|Expected|Set|Add|SubjectTypes|Arguments|Failover|Subsets)$/;

/** Spells the names of fields otherwise; the keys of maps stay. */
function spelled(value: unknown, change: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => spelled(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      change(name),
      DATA.test(name) ? one : spelled(one, change),
    ]),
  );
}

const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text.toLowerCase();
/** An answer without what chance made of it, such as the order of groups. */
const scrubbed = ({ status, text }: Reply): string =>
  `${status} ${text
    .replace(CHANCE, '*')
    .split(/[,{}[\]]/)
    .sort()
    .join()}`;
const CHANCE = /[0-9a-f]{8}-[0-9a-f-]{27}|"(?:CreateTime|ExpirationTime|Hash|Digest)":"[^"]*"/gi;

describe('Names of fields', function () {
  this.timeout(60_000);
  let client: SoloClient;
  beforeEach(async () => {
    client = await openWith('anyCase');
  });
  afterEach(() => client.close());

  for (const [title, change] of [
    ['capitals', upper],
    ['small letters', lower],
  ] as const) {
    it(`are taken by every endpoint: ${title}`, async () => {
      const exact = await openWith('exact');
      let count = 0;
      for (const { method, path, bodies, headers = {} } of ENDPOINTS) {
        if (!path.startsWith('/v1/acl/') && !/^\/v1\/(?:config|namespace|plan|apply)/.test(path))
          continue;
        const call = `${method} ${path.slice(3).replaceAll('*', 'p')}`;
        for (const body of bodies) {
          // two spellings of one field are refused here alone
          if (JSON.stringify(body).includes('"kind":')) continue;
          const wanted = await askSpelled(exact, call, body, headers);
          const got = await askSpelled(client, call, spelled(body, change), headers);
          const shown = `${call} ${JSON.stringify(body)}`;
          expect(scrubbed(got), shown).to.equal(scrubbed(wanted));
          count += 1;
        }
      }
      expect(count).to.be.greaterThan(100);
      await exact.close();
    });
  }
});
