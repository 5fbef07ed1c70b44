/** Decisions in the process of the caller, by the library for TypeScript. */
import { openRights } from '../../clients/typescript/src/cache.js';
import { figure, row, title } from './report.js';
import { withCluster } from './setting.js';

const SIZES = [10, 1_000, 10_000];
/** Rules of one policy; a token with more has several. */
const RULES_OF_POLICY = 1_000;
/** So many that a cache does not remember them, and so few that it does. */
const MANY = 4_099;
const FEW = 512;
const WARM = 200_000;
const MEASURED = 200_000;
const ROUNDS = 9;
const PARTS = [0.5, 0.99, 0.999];

/** An application's rules from a number on: half name an order, half a range of them. */
const applicationRules = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, n) => from + n)
    .map((n) =>
      n % 2 === 0
        ? `key "orders/approve/${n}" { policy = "read" }`
        : `key_prefix "orders/approve/r${n}-" { policy = "read" }`,
    )
    .join('\n');

/** Ids of which half are in exact rules, a third in ranges, the others in none. */
const idsOf = (rules: number): readonly string[] =>
  Array.from({ length: MANY }, (_, n) => {
    const rule = (n * 7_919) % rules;
    if (rule % 2 === 0) return String(rule);
    return n % 3 === 0 ? `none-${n}` : `r${rule}-${n}`;
  });

/**
 * How long calls take, each by itself, in nanoseconds at the parts. Of some rounds the one with the
 * least at the second part counts: other processes disturb the others.
 */
function timesOf(call: (n: number) => boolean): readonly number[] {
  for (let n = 0; n < WARM; n += 1) call(n);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const times = new Float64Array(MEASURED);
    for (let n = 0; n < MEASURED; n += 1) {
      const start = performance.now();
      call(n);
      times[n] = performance.now() - start;
    }
    times.sort();
    return PARTS.map((part) => times[Math.floor(part * MEASURED)]! * 1e6);
  });
  return rounds.sort((a, b) => a[1]! - b[1]!)[0]!;
}

/** Measures decisions at some numbers of rules, each by a feed that a node has sent. */
export function measureLocalDecisions(): Promise<void> {
  return withCluster(1, async (setting) => {
    const [clockNs = 0] = timesOf(() => true);
    const without = `${figure(clockNs)} ns of each that reading the clock takes are subtracted`;
    title(`Decisions in process, TypeScript; ${without}`, [
      'what',
      'rules',
      'p50 ns',
      'p99 ns',
      'p99.9 ns',
    ]);
    for (const size of SIZES) {
      const Policies: { readonly Name: string }[] = [];
      for (let from = 0; from < size; from += RULES_OF_POLICY) {
        const Name = `shop-${size}-${from}`;
        const Rules = applicationRules(Math.min(size, RULES_OF_POLICY), from);
        await setting.put('/v1/acl/policy', { Name, Rules });
        Policies.push({ Name });
      }
      const { body } = await setting.put('/v1/acl/token', { Policies });
      const { SecretID: token } = JSON.parse(body.toString()) as { SecretID: string };
      const cache = openRights({ addresses: setting.cluster.urls, token });
      await cache.ready();
      const rights = cache.rights()!;
      const ids = idsOf(size);
      const ways: readonly (readonly [string, (n: number) => boolean])[] = [
        ['rights', (n) => rights.can('orders', 'approve', ids[n % MANY]!)],
        ['cache, a new question', (n) => cache.can('orders', 'approve', ids[n % MANY]!)],
        ['cache, a question of the last', (n) => cache.can('orders', 'approve', ids[n % FEW]!)],
      ];
      for (const [what, can] of ways)
        row([what, size, ...timesOf(can).map((ns) => ns - clockNs)].map(cell));
      cache.close();
    }
  });
}

const cell = (value: string | number): string =>
  typeof value === 'string' ? value : figure(Math.max(0, value));
