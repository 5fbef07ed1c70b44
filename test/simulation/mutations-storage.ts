/** Deliberate faults of log, state, identity and start, for `mutations.ts`. */
import type { Fault } from './fault-kinds.js';
import { type Mutation, one } from './mutation.js';

/** One change that real storage alone can show. */
const real = (mutation: Mutation, fault?: Fault): Mutation => ({
  ...mutation,
  storage: 'real',
  ...(fault !== undefined && { fault }),
});

const writes: readonly Mutation[] = [
  real(
    one(
      'a log that reports what is not synced',
      'storage/log.js',
      'await this.db.write(operations, { sync: true });',
      'await this.db.write(operations, { sync: false });',
    ),
    'power',
  ),
  real(
    one(
      'a log that reports before it writes',
      'storage/log.js',
      'await this.#write(merge(group.map((job) => job.change)));',
      'void this.#write(merge(group.map((job) => job.change)));',
    ),
    'power',
  ),
  real(
    one(
      'a state that is flushed before it is synced',
      'storage/state.js',
      'return this.db.write([...operations, numbered], { sync: true });',
      'return this.db.write([...operations, numbered], { sync: false });',
    ),
    'power',
  ),
  real(
    one(
      'the position of a state written before its data',
      'storage/state.js',
      'await this.#write([...operations, this.#keyCount()]);',
      [
        "const last = (o) => o.key.endsWith('machine');",
        'await this.#write(operations.filter(last));',
        'await this.#write([...operations.filter((o) => !last(o)), this.#keyCount()]);',
      ].join('\n'),
    ),
    'power',
  ),
  real(
    one(
      'an identity that is renamed before it is synced',
      'storage/sealed-file.js',
      'await file.sync();',
      '',
    ),
    'power',
  ),
  real(
    one(
      'a witness that is told before the log is written',
      'storage/log.js',
      'if (lowerTo < this.#witnessed.lastIndex) {',
      'await this.#tellWitness(change.marks, true); if (lowerTo < this.#witnessed.lastIndex) {',
    ),
    'power',
  ),
];

const damage: readonly Mutation[] = [
  real(
    one(
      'an entry whose checksum is not compared',
      'storage/record.js',
      'if (record.readUInt32BE(0) !== checksum(entryKey(index), record))',
      'if (record.length < 0)',
    ),
    'damage',
  ),
  real(
    one(
      'a value whose checksum is not compared',
      'storage/state-load.js',
      'return sum === recordSum(key, stored.slice(SUM_DIGITS)) ? sum : undefined;',
      'return sum;',
    ),
    'rot',
  ),
  real(
    one(
      'entries that only the witness knows of, not missed',
      'storage/log-load.js',
      'else if (promised > lastGood)',
      'else if (promised > lastGood + 1e9)',
    ),
    'damage',
  ),
  real(
    one(
      'a damaged log mended without a bar',
      'storage/log.js',
      'this.damaged = undefined;\n        this.#raiseBar(damaged.last);',
      'this.damaged = undefined;',
    ),
    'damage',
  ),
  real(
    one(
      'a batch of the state that is lost and not missed',
      'storage/state-load.js',
      'else if (ring.gap !== undefined)',
      'else if (ring.gap === -1)',
    ),
    'stateDamage',
  ),
];

const starts: readonly Mutation[] = [
  real(
    one(
      'a log that has lost entries taken for the one of its state',
      'replica/loop.js',
      'return log.bar?.() === undefined || log.term(applied) === machine.appliedTerm();',
      'return true;',
    ),
    'damage',
  ),
  real(
    one(
      'a start that does not finish a snapshot',
      'replica/state/reconcile.js',
      'if (position?.index === applied) {',
      'if (position?.index === -1) {',
    ),
    'halfInstall',
  ),
  real(
    one(
      'a state switched in before it is complete',
      'storage/install.js',
      'await this.#host.write(operations);',
      'void this.#host.write(operations).then(() => {});',
    ),
    'cutInstall',
  ),
  real(
    one(
      'a start that is not counted',
      'node/identity.js',
      'await writeIdentity(dir, counted, disk);',
      '',
    ),
    'crash',
  ),
];

/** See the head of this file. */
export const storageMutations: readonly Mutation[] = [...writes, ...damage, ...starts];
