/** Short bursts of load in turn on clusters that run side by side, and the work they do. */
import type { Ask, Reply, Target } from './line.js';
import { load } from './load.js';
import { putEntry } from './setting.js';

/** Entries that bursts read, and that a list contains. */
export const NAMES = 1000;
const BURST_SECONDS = 1;
const READ = '/v1/config/service-defaults/read-';
/** Of ten requests of mixed work this many are reads. */
const READS_OF_TEN = 9;

/** Returns the `n`th request of a connection. */
export type Next = (connection: number, n: number) => Ask;

/** Where bursts go, and what they cost there. */
export interface Subject {
  readonly targets: readonly Target[];
  /** Seconds of CPU time that all servers have used. */
  cpuSeconds(): Promise<number>;
}

/** The cost of a burst: CPU time of all servers per request, and requests per second. */
export interface Burst {
  readonly cpuUs: number;
  readonly perSec: number;
}

const readOf =
  (how: string): Next =>
  (connection, n) => ({
    method: 'GET',
    path: `${READ}${(connection * 31 + n) % NAMES}${how}`,
  });

/** Permitted requests. `run` separates the names of one burst from those of the others. */
export const WORK = {
  'write an entry': (run: string): Next => {
    return (connection, n) => putEntry(`w-${run}-${connection}-${n}`, n);
  },
  'write a role': (run: string): Next => {
    return (connection, n) => ({
      method: 'PUT',
      path: '/v1/acl/role',
      body: JSON.stringify({ Name: `r-${run}-${connection}-${n}`, Description: 'a role' }),
    });
  },
  'read, stale': () => readOf('?stale'),
  'read, default': () => readOf(''),
  'read, consistent': () => readOf('?consistent'),
  'list of 1,000 entries': (): Next => () => ({
    method: 'GET',
    path: '/v1/config/service-resolver',
  }),
  'nine reads, one write': (run: string): Next => {
    const read = readOf('');
    return (connection, n) =>
      n % 10 < READS_OF_TEN ? read(connection, n) : putEntry(`m-${run}-${connection}-${n}`, n);
  },
} as const;

/** The token that asks what it may do, with a policy of 100 prefix rules. */
const ASKING = 'aaaaaaaa-0000-4000-8000-000000000001';
const RULES = 100;
const prefixOf = (n: number): string => `team-${n % RULES}-`;

/** Questions of batch authorisation, as one request. */
const asked = (count: number) => (): Next => (connection, n) => ({
  method: 'POST',
  path: '/v1/internal/acl/authorize',
  token: ASKING,
  body: JSON.stringify(
    Array.from({ length: count }, (_, at) => ({
      Resource: 'service',
      Access: at % 3 === 0 ? 'write' : 'read',
      Segment: `${prefixOf(connection + n + at)}web`,
    })),
  ),
});

/** What a token with many rules may do: one question, and a whole batch. */
export const QUESTIONS = { 'one question': asked(1), '64 questions': asked(64) } as const;

/** Makes the token that asks. */
export async function addAsking(
  put: (path: string, body: object) => Promise<Reply>,
): Promise<void> {
  const Rules = Array.from({ length: RULES }, (_, n) => {
    const policy = n % 2 === 0 ? 'write' : 'read';
    return `service_prefix "${prefixOf(n)}" { policy = "${policy}" }`;
  }).join('\n');
  const Name = 'many-rules';
  await put('/v1/acl/policy', { Name, Rules });
  await put('/v1/acl/token', { SecretID: ASKING, Policies: [{ Name }] });
}

/** Runs one burst. Throws if a request was not answered with 200. */
export async function burst(
  subject: Subject,
  { connections, next }: { readonly connections: number; readonly next: Next },
  seconds = BURST_SECONDS,
): Promise<Burst> {
  const before = await subject.cpuSeconds();
  const { targets } = subject;
  const { perSec, errors, answered } = await load({ targets, connections, seconds, next });
  const used = (await subject.cpuSeconds()) - before;
  if (errors > 0) throw new Error(`${errors} requests were not answered with 200`);
  return { cpuUs: (used * 1e6) / answered, perSec };
}

/** Runs a burst at each subject, in an order that changes from round to round. */
export async function inTurn<S, T>(
  subjects: readonly S[],
  rounds: number,
  run: (subject: S, round: number) => Promise<T>,
): Promise<readonly (readonly T[])[]> {
  const found: T[][] = subjects.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const at = (round + turn) % subjects.length;
      found[at]!.push(await run(subjects[at]!, round));
    }
  }
  return found;
}

/** Returns the value below which a part of the values lies, interpolated. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return below + (above - below) * (at % 1);
}

/** Returns the median. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);
