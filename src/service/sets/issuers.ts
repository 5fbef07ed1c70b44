/** Checks the issuers of the auth methods of a set, a few at a time, and not for long. */
import { type Refusal, refusal } from '../../base/errors.js';

/** Milliseconds after which no other issuer is asked: meanwhile the set has the place of others. */
const BEGIN_MS = 10_000;
/** Issuers that are asked at one time. */
const AT_ONCE = 4;

const TOO_LONG = refusal(
  'invalid',
  'Invalid Auth Method: its issuer was not asked, because those of the set did not answer in time',
  { pointer: '/Config', hint: 'write fewer auth methods at one time' },
);

/**
 * Returns why methods are refused, in their order. Those whose turn comes too late are refused too.
 * Rejects as `check` does, after the last check has ended.
 */
export async function issuerRefusals<T>(
  methods: readonly T[],
  check: (method: T) => Promise<Refusal | undefined>,
  beginMs = BEGIN_MS,
): Promise<readonly (readonly [method: T, why: Refusal])[]> {
  const endMs = performance.now() + beginMs;
  const found: (Refusal | undefined)[] = [];
  const waiting = methods.entries();
  const asking = async (): Promise<void> => {
    for (const [at, method] of waiting)
      found[at] = performance.now() < endMs ? await check(method) : TOO_LONG;
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, asking));
  for (const each of ended) if (each.status === 'rejected') throw each.reason;
  return methods.flatMap((method, at) => (found[at] === undefined ? [] : [[method, found[at]]]));
}
