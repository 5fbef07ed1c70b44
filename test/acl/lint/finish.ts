import type { Linting } from '../../../src/acl/lint/findings.js';

/** Runs lint to its end in one turn. */
export function finish<T>(work: Linting<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
