import type { EntryContext } from '../../src/kinds/definition.js';
import { decodeInSteps } from '../../src/kinds/index.js';
import type { Decoded } from '../../src/kinds/types.js';

/** Decodes a body without pausing. */
export function decodeEntry(body: unknown, context: EntryContext): Decoded {
  const steps = decodeInSteps(body, context);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
