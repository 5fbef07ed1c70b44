/** Deliberate faults of log, state, identity and start, for `mutations.ts`. */
import type { Fault } from './fault-kinds.js';
import { type Mutation, one, unit } from './mutation.js';

/** One change that real storage alone can show. */
const real = (mutation: Mutation, fault?: Fault): Mutation => ({
  ...mutation,
  storage: 'real',
  ...(fault !== undefined && { fault }),
});

const writes: readonly Mutation[] = [
  real(
    one(
      'a log that reports what is not durable',
      'storage/log-writer.js',
      'writeAll(segment.file, bytes, segment.end, (error) => this.#unless(error, () => {',
      [
        'writeAll(segment.file, bytes, segment.end, () => { });',
        'this.#parts.clock.soon(() => this.#unless(null, () => {',
      ].join('\n'),
    ),
    'power',
  ),
  real(
    one(
      'a segment whose name is not durable',
      'storage/segment-pool.js',
      'await settled((done) => folder.sync(done));',
      '',
    ),
    'power',
  ),
  // The position is written with the next state. If it is written right after the drop, a power cut
  // must strike within that write: the property of storage/log-crash finds it, some worlds do not.
  real(
    one(
      'segments dropped before the position of the snapshot is durable',
      'storage/log.js',
      'this.#add([stateDraft(this.#log, this.#last())], drop, {});',
      'drop();',
    ),
    'power',
  ),
  real(
    one(
      'a batch that counts without all its records',
      'storage/recovery-run.js',
      'if (!record.isLastOfBatch)',
      'if (record.at < 0)',
    ),
    'power',
  ),
  real(
    one(
      'what a killed process wrote, believed before it is synced',
      'storage/log-load.js',
      'await settled((done) => newest.file.sync(done));',
      'void newest;',
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
      'await this.#write(operations);',
      [
        "const last = (o) => o.key.endsWith('machine');",
        'await this.#write(operations.filter(last));',
        'await this.#write(operations.filter((o) => !last(o)));',
      ].join('\n'),
    ),
    'power',
  ),
  real(
    one(
      'an identity that is renamed before it is written',
      'storage/sealed-file.js',
      'await settled((done) => writeAll(file, bytes, 0, done));',
      'settled((done) => writeAll(file, bytes, 0, done)).catch(() => {});',
    ),
    'power',
  ),
  real(
    one(
      'a witness that is told before the log is written',
      'storage/log-writer.js',
      'const { bytes, crc } = encodeBatch(drafts, place);',
      [
        'const { bytes, crc } = encodeBatch(drafts, place);',
        'const { state: { version, hardState }, last } = group.at(-1);',
        'const marks = { version, hardState, batch: this.#nextBatch, lastIndex: last.index };',
        'this.#witness.write(marks, () => {});',
      ].join('\n'),
    ),
    'power',
  ),
];

const witnessed: readonly Mutation[] = [
  real(
    one(
      'a vote that is sent before the witness has it',
      'storage/log-writer.js',
      'if (group.some((job) => job.isUrgent))',
      'if (group === null)',
    ),
    'damage',
  ),
  real(
    one(
      'a start that does not tell the witness what it found',
      'storage/log-load.js',
      'await settled((done) => witness.write({ version, hardState, batch, lastIndex }, done));',
      '',
    ),
    'damage',
  ),
  // A write to the witness must be torn, and the log must lose what only that witness knows.
  unit(
    one(
      'a witness with one slot',
      'storage/witness.js',
      '(this.#turn % 2) * SLOT_BYTES',
      '0 * SLOT_BYTES',
    ),
    'storage/witness',
  ),
  // A damaged log must get a snapshot that ends before what it has lost.
  unit(
    one(
      'a reset that drops the bar whatever it covers',
      'storage/log.js',
      'raised !== undefined && meta.index >= raised.index ? undefined : raised',
      'undefined',
    ),
    'storage/log-damage',
  ),
  // An entry must be read in the very turns in which another one is to replace it.
  unit(
    one(
      'entries that leave the memory although a later job replaces them',
      'storage/log-writer.js',
      'this.#parts.written(this.#jobs.reduce((low, { from }) => Math.min(low, from - 1), index));',
      'this.#parts.written(index);',
    ),
    'storage/log-',
  ),
];

const erasures: readonly Mutation[] = [
  one(
    'erasing that wipes the first entry of the log too',
    'storage/segment-erase.js',
    'index < first ||',
    'index <= first ||',
  ),
  one(
    'erasing that leaves the entries before the first one',
    'storage/segment-erase.js',
    '(index < first || segment',
    '(segment',
  ),
].map((mutation) => ({ ...real(mutation), product: true }));

const damage: readonly Mutation[] = [
  real(
    one(
      'an entry whose checksum is not compared',
      'storage/segment-record.js',
      'payload.length < length || bytes.readUInt32BE(at + 16) !== crc32(payload)',
      'payload.length < length',
    ),
    'damage',
  ),
  real(
    one(
      'a log that is broken in its middle and goes on there',
      'storage/recovery-run.js',
      'return this.#behind > this.#torn;',
      'return false;',
    ),
    'damage',
  ),
  real(
    one(
      'a value whose checksum is not compared',
      'storage/state-load.js',
      'return sum === recordSum(ownKey(key), stored.slice(SUM_DIGITS)) ? sum : undefined;',
      'return sum;',
    ),
    'rot',
  ),
  real(
    one(
      'a batch that only the witness knows of, not missed',
      'storage/log-load.js',
      'marks.batch <= batch',
      'marks.batch > 0',
    ),
    'damage',
  ),
  real(
    one(
      'a damaged log mended without a bar',
      'storage/log.js',
      'const bar = this.#raised(damaged.last);',
      'const bar = this.#log.bar;',
    ),
    'damage',
  ),
  // Either check alone finds what has an effect.
  real(
    {
      name: 'a batch of the state that is lost and not missed',
      changes: [
        {
          file: 'storage/state-load.js',
          find: 'else if (ring.gap !== undefined)',
          replace: 'else if (ring.gap === -1)',
        },
        {
          file: 'storage/state-load.js',
          find: 'else if (count === undefined || !keys.tally.equals(count))',
          replace: 'else if (count === undefined)',
        },
      ],
    },
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
    'lostReplacement',
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
  unit(
    one(
      'a state switched in before it is synced',
      'storage/install.js',
      'await this.#host.sync();',
      '',
    ),
    'storage/state-install',
  ),
  unit(
    one(
      'a chunk that cannot be stored and does not end the process',
      'storage/state.js',
      'const done = this.#chain.then(run).catch((error) => {',
      'const done = this.#chain.then(run).catch((error) => { throw error;',
    ),
    'storage/state-install',
  ),
  unit(
    one(
      'a part of another restore that is taken for one of this',
      'state/restore.js',
      'replaces: part === 0, records',
      'replaces: false, records',
    ),
    'state/restore',
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

const recoveries: readonly Mutation[] = [
  real(
    one(
      'a recovery that leaves out the end of the log',
      'node/recover.js',
      'await applyUpTo(log.lastIndex(), log, machine);',
      'await applyUpTo(log.lastIndex() - 1, log, machine);',
    ),
    'recover',
  ),
  real(
    one(
      'a recovery that drops its log before its state is synced',
      'node/recover.js',
      'await store.flush();\n        const epoch',
      'const epoch',
    ),
    'recover',
  ),
  real(
    one(
      'an unfinished recovery that is served',
      'node/recover.js',
      'store.commit([[DIVERGED_KEY, UNFINISHED]]);',
      '',
    ),
    'recover',
  ),
  real(
    one(
      'a recovery that keeps the id of the cluster',
      'node/recover.js',
      "const clusterId = derived(['recovered', ...epoch], members);",
      'const { clusterId } = identity;',
    ),
    'recover',
  ),
];

/** See the head of this file. */
export const storageMutations: readonly Mutation[] = [
  ...writes,
  ...witnessed,
  ...erasures,
  ...damage,
  ...starts,
  ...recoveries,
];
