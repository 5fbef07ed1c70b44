import { decodeInSteps } from '../../src/kinds/decode.js';
import type { EntryContext } from '../../src/kinds/definition.js';
import type { Decoded } from '../../src/kinds/types.js';

/** Decodes a body without pausing. */
export function decodeEntry(body: unknown, context: EntryContext): Decoded {
  const steps = decodeInSteps(body, context);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
