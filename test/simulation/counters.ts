/**
 * Rare things that worlds must meet, each counted where the product does it. The counters are put
 * into the code while it is loaded (`scripts/counting.ts`), so the product knows nothing of them. A
 * long run in which one stays 0 does not prove what it claims.
 */

/** A place in the compiled text at which something is counted. */
export interface Counter {
  readonly name: string;
  /** Below `src/` of the build. */
  readonly file: string;
  /** The statement before which it is counted. It must be there exactly once. */
  readonly before: string;
  /** What must hold there, as an expression. */
  readonly when?: string;
}

/** One counter. */
const at = (name: string, file: string, before: string, when?: string): Counter =>
  when === undefined ? { name, file, before } : { name, file, before, when };

const log: readonly Counter[] = [
  at(
    'writes that replace entries',
    'replica/log/log-writer.js',
    'if (first <= log.lastIndex())\n                truncates(first);',
    'first <= log.lastIndex()',
  ),
  at(
    'configurations rolled back',
    'raft/configuration.js',
    'while (this.#placed.length > 1 && this.index >= index)',
    'this.#placed.length > 1',
  ),
  at(
    'batches not durable up to their end',
    'replica/log/log-writer.js',
    'if (first !== undefined)\n                durable = Math.min(durable, first - 1);',
    'first <= durable',
  ),
  at(
    'cuts of a log that was replaced',
    'replica/log/compaction.js',
    'if (durable < meta.index || !isThere) {',
    '!isThere',
  ),
  at(
    'cuts put off for a large state',
    'replica/log/applied-log.js',
    'if (!due)\n            return undefined;',
    '!due && entries - limits.keepEntries > limits.cutEntries',
  ),
  at(
    'torn batches dropped',
    'storage/recovery-run.js',
    'const { segment, records, number } = this.#waiting;',
  ),
  at('damaged logs repaired', 'storage/log.js', 'const bar = this.#raised(damaged.last);'),
  at(
    'segments made of spare files',
    'storage/segment-pool.js',
    'await settled((done) => folder.rename(spare.name, name, done));',
  ),
];

const elections: readonly Counter[] = [
  at(
    'votes refused for a hanging disk',
    'replica/election-guard.js',
    "const reason = this.votingSuspended ? 'voting_suspended' : 'disk_hangs';",
    '!this.votingSuspended',
  ),
  at(
    'votes refused for lost entries',
    'replica/election-guard.js',
    "const reason = this.votingSuspended ? 'voting_suspended' : 'disk_hangs';",
    'this.votingSuspended',
  ),
];

const requests: readonly Counter[] = [
  at(
    'late answers to readers dropped',
    'replica/reads/read-index.js',
    'if (round !== lane.round || lane.asking.length === 0)',
    'round !== lane.round && lane.asking.length > 0',
  ),
  at(
    'requests too old to be remembered',
    'state/requests.js',
    "const why = 'The outcome of this request is unknown",
  ),
  at(
    'requests forgotten',
    'state/requests.js',
    'this.#floor = index;\n        const oldest',
    'index > 0',
  ),
];

const state: readonly Counter[] = [
  at(
    'states restored',
    'state/restore.js',
    "return { ok: true, value: 'true', state: { slices, changed, nextSums: progress.Sums } };",
  ),
  at(
    'states restored from records as JSON',
    'state/restore.js',
    "return { ok: true, value: 'true', state: { slices, changed } };",
  ),
  at('secrets erased', 'replica/log/erasure.js', 'this.#busy = false;\n        });'),
  at(
    'tokens removed with their auth method',
    'state/tokens.js',
    'return some.length;',
    'some.length > 0',
  ),
  at(
    'objects removed with their namespace',
    'state/namespaces.js',
    'for (const key of some) {\n        removeObject(context, definition',
    'some.length > 0',
  ),
  at(
    'snapshot transfers failed',
    'replica/log/compaction.js',
    'this.#sending.delete(to);\n            if (ok)',
    '!ok',
  ),
];

const changes: readonly Counter[] = [
  at(
    'sets applied',
    'state/sets.js',
    'return { ok: true, value: JSON.stringify({ Index: index }) };',
  ),
  at(
    'sets refused because an object had changed',
    'state/sets.js',
    'if (moved || command.rests?.some((rest) => isOther(draft, rest)))',
    'moved',
  ),
  at(
    'sets refused for one of their changes',
    'state/sets.js',
    'if (first !== undefined)\n        return refused(first);',
    'first !== undefined',
  ),
  at(
    'commands whose precondition holds',
    'state/match.js',
    'return problem === undefined ? handler(context, command) : refused(problem);',
    'problem === undefined && command.match !== undefined',
  ),
  at(
    'commands whose precondition does not hold',
    'state/match.js',
    'return problem === undefined ? handler(context, command) : refused(problem);',
    'problem !== undefined',
  ),
  at(
    'entries undone',
    'state/undo.js',
    'return why === undefined ? { ok: true, value: JSON.stringify({ Index: index }) }',
    'why === undefined && changes.length > 0',
  ),
  at(
    'entries not undone because an object had changed',
    'state/undo.js',
    'if (problem !== undefined)\n        return refused(problem);\n    const why',
    'problem?.code === "precondition_failed"',
  ),
  at(
    'entries undone that were undos',
    'state/undo.js',
    'const why = makeUndone(context, changes, command);',
    'changes.some(({ line }) => line.operation === "undo")',
  ),
];

const history: readonly Counter[] = [
  at(
    'histories begun',
    'state/machine.js',
    'this.#history.record({ draft, index }, command, changes, many);',
    'begins',
  ),
  at(
    'commands refused below their level',
    'replica/members/levels.js',
    'const why = `This needs level ${needed}, the cluster is at level ${level}`;',
  ),
  at(
    'bounds of the history changed',
    'state/history/settings.js',
    'const floors = floorsOf(draft);',
  ),
  at(
    'versions dropped beyond their number',
    'state/history/trim.js',
    'ledger.dropped(line.index);',
  ),
  at(
    'owners changed alone',
    'state/history/history.js',
    "this.#line('change', about, 'update', NO_VERSION);",
  ),
  at(
    'tokens imported',
    'state/token-import.js',
    "if (typeof found === 'string')",
    'found === "Created"',
  ),
  at(
    'imports refused',
    'state/token-import.js',
    'if (first !== undefined)\n        return refused(first);',
    'first !== undefined',
  ),
];

/** See the head of this file. */
export const counters: readonly Counter[] = [
  ...[...log, ...elections, ...requests, ...state],
  ...[...changes, ...history],
];
