/** The last questions of a world, once everything is healed. */
import { REMOVED } from '../../src/replica/availability.js';
import type { SimCluster } from './cluster.js';
import { Violation } from './invariants.js';
import type { SimServer } from './server.js';
import { mayBeUnknown } from './unknown-outcome.js';
import type { Workload, WriteOutcome } from './workload.js';

/**
 * Virtual milliseconds that an answer may take. The limit on the state's backlog is so small here
 * that a server which has just joined may apply one entry in each tick.
 */
const ANSWER_MS = 60_000;

/**
 * Writes and reads once through every member. Returns a function that tells whether all have
 * answered; one that was started again in the meantime is asked again. A server may refuse for a
 * while: when it has too much to do, when it knows of its removal but not yet that it was added
 * again, or when it learns only now that its state was wrong. One that shuts down loses requests,
 * and is asked again. A server that has just stood still
 * sends over connections that have broken meanwhile, so the outcome of a write may be unknown (see
 * mayBeUnknown). Every other refusal is a violation, unless an earlier request to remove the
 * server has taken effect in the meantime.
 */
export function lastQuestions(cluster: SimCluster, workload: Workload): () => boolean {
  const { scheduler } = cluster;
  const failed = (server: SimServer, what: string, again: () => void): void => {
    // an upgrade may still be under way: it is asked again once it has started
    if (server.isStopping) return;
    if (server.fault === REMOVED || server.wasWrong(0)) scheduler.after(100, again);
    else if (cluster.members().includes(server)) throw new Violation('liveness', what);
  };
  const write = (server: SimServer, answered: () => void): void => {
    const again = (): void => write(server, answered);
    const value = workload.newValue();
    const type = server.level > 1 ? 'newPut' : 'put';
    const command = { type, v: 1, key: 'last', value } as const;
    const mayNotKnow = mayBeUnknown(cluster, server, value);
    server.write(command, ANSWER_MS, (outcome) => {
      const code = codeOf(outcome);
      const isLost = code === 'outcome_unknown' && mayNotKnow();
      if (code === undefined) answered();
      else if (isLost || code === 'too_many') scheduler.after(100, again);
      else failed(server, `${server.id} answers ${JSON.stringify(outcome)}`, again);
    });
  };
  const read = (server: SimServer, answered: () => void): void =>
    server.barrier('consistent', ANSWER_MS, (passed) => {
      if (passed) answered();
      else failed(server, `${server.id} has no read barrier`, () => read(server, answered));
    });
  const questions = cluster
    .members()
    .flatMap((server) => [write, read].map((ask) => ({ server, ask, start: 0, isDone: false })));
  return () => {
    const members = cluster.members();
    for (const question of questions) {
      const { server, ask, start, isDone } = question;
      if (isDone || !server.up || server.starts === start) continue;
      question.start = server.starts;
      ask(server, () => {
        question.isDone = true;
      });
    }
    return questions.every(({ isDone, server }) => isDone || !members.includes(server));
  };
}

/** The code of a refusal; undefined for a write that is done. */
function codeOf(outcome: WriteOutcome): string | undefined {
  if ('refusal' in outcome) return outcome.refusal.code;
  return outcome.result.ok ? undefined : outcome.result.refusal.code;
}
