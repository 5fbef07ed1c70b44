/** Secrets that were erased must be in no file of the server, whatever else is under way there. */
import type { Index } from '../../src/raft/types.js';
import type { LogPort } from '../../src/replica/ports.js';
import type { View } from '../../src/state/types.js';
import { Violation } from '../raft/violation.js';
import { SECRETS } from '../support/random-commands.js';
import type { Invariants } from './invariants.js';
import { isBroughtOften } from './product-commands.js';

/** What an erasure is judged by. */
export interface Erased {
  readonly id: string;
  /** All that was committed up to here may be erased. */
  readonly through: Index;
  readonly invariants: Invariants;
  readonly log: Pick<LogPort, 'firstIndex' | 'lastIndex' | 'entries'>;
  readonly view: View;
  /** The secrets in the state when the erasure began: those that have left it since may remain. */
  readonly had: ReadonlySet<string>;
  /** All bytes on the disk, as text. */
  readonly bytes: Iterable<string>;
}

/** The secrets in some texts. */
function* secretsIn(texts: Iterable<string>): Iterable<string> {
  for (const text of texts) for (const [secret] of text.matchAll(SECRETS)) yield secret;
}

function* textsIn(view: View): Iterable<string> {
  for (const key of view.keys('')) yield view.get(key)!;
}

/** Returns the secrets in a state. */
export const secretsOf = (view: View): ReadonlySet<string> => new Set(secretsIn(textsIn(view)));

/** The commands in the log of a server. */
function* commandsOf({ log }: Erased): Iterable<string> {
  for (const entry of log.entries(log.firstIndex(), log.lastIndex(), Infinity))
    if (entry.kind === 'command') yield Buffer.from(entry.data).toString('latin1');
}

/** Throws Violation if a file holds a secret that the server neither needs nor may keep. */
export function checkErased(erased: Erased): void {
  const { id, through, invariants, had, bytes } = erased;
  const shown = new Set([...had, ...secretsOf(erased.view), ...secretsIn(commandsOf(erased))]);
  for (const secret of secretsIn(bytes)) {
    const index = invariants.secretAt(secret);
    if (index === undefined || index > through || shown.has(secret)) continue;
    // an entry beyond, which was overwritten, may have it
    if (isBroughtOften(secret)) continue;
    throw new Violation(
      'what is erased is in no file',
      `${id} has erased up to ${through}, and its disk holds ${secret} of ${index}`,
    );
  }
}
