/** Reconciles log and state when a server starts, before anything else happens. */
import type { Index, SnapshotMeta, Term } from '../../raft/types.js';
import { POSITION_KEY } from '../../state/keys.js';
import type { View } from '../../state/types.js';
import type { LogPort } from '../ports.js';

/** Position of the applied state. */
export interface AppliedState {
  appliedIndex(): Index;
  appliedTerm(): Term;
}

/**
 * Checks that the state contains everything the log has dropped. The state may be ahead of the log
 * only by a snapshot whose installation was interrupted, which is completed here. When the log was
 * damaged, it may also end before the state, or hold older entries than the state comes from.
 * `done` gets the reason when the state lacks something. Throws when log and state cannot belong to
 * the same server.
 */
export function reconcile(
  log: LogPort,
  store: Pick<View, 'get'>,
  machine: AppliedState,
  done: (lacking: string | undefined) => void,
): void {
  const applied = machine.appliedIndex();
  if (applied < log.firstIndex() - 1) {
    done(`its state (index ${applied}) ends before its log begins (index ${log.firstIndex()})`);
    return;
  }
  if (applied === 0 || log.term(applied) === machine.appliedTerm()) {
    done(undefined);
    return;
  }
  const text = store.get(POSITION_KEY);
  const position = text === undefined ? undefined : (JSON.parse(text) as SnapshotMeta);
  if (position?.index === applied) {
    const { term, votedFor } = log.hardState();
    const hardState =
      term >= position.term ? { term, votedFor } : { term: position.term, votedFor: null };
    log.reset(position, hardState, () => done(undefined));
  } else if (log.bar?.() !== undefined) {
    done(undefined);
  } else {
    throw new Error(
      `the state has applied index ${applied} in term ${machine.appliedTerm()}, but the log ends ` +
        `at ${log.lastIndex()} and has term ${log.term(applied)} there: the folders log and state ` +
        'do not belong to the same node',
    );
  }
}
