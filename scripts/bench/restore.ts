/**
 * How long applying a restore takes on one node, and how long it blocks the event loop: machine and
 * disk, no network.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { HANDLERS } from '../../src/state/handlers.js';
import { keys } from '../../src/state/keys.js';
import { Machine } from '../../src/state/machine.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { recordBytes } from '../../src/state/record-bytes.js';
import type { Command, Result } from '../../src/state/types.js';
import { nextTurn } from '../../src/storage/record-stream.js';
import { openState } from '../../src/storage/state.js';
import { figure, row, title } from './report.js';

const RECORDS_PER_PART = 1000;

export async function measureRestore(counts: readonly number[]): Promise<void> {
  title('Applying a restore on one node', ['entries', 'time', 'event loop held at most']);
  for (const count of counts) await measure(count);
}

async function measure(count: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'conclave-restore-'));
  const onFatal = (error: Error): void => {
    throw error;
  };
  const store = await openState(join(dir, 'state'), { onFatal });
  const machine = new Machine(store, HANDLERS);
  const apply = (command: object): Promise<Result> =>
    new Promise((resolve) => {
      const index = machine.appliedIndex() + 1;
      const proposal = { id: `id-${index}`, since: 0, command: { v: 1, ...command } as Command };
      const entry = { kind: 'command', index, term: 1, data: encodeProposal(proposal) } as const;
      const [result] = machine.apply([entry], (late) => resolve(late!));
      if (result !== undefined) resolve(result);
    });
  // Earlier entries, so that there is something to replace.
  for (let round = 0; round < 2; round++) {
    const loop = watchLoop();
    const begin = performance.now();
    const parts = Math.ceil(count / RECORDS_PER_PART);
    for (let part = 0; part < parts; part++) {
      const records = Array.from({ length: RECORDS_PER_PART }, (_, n) =>
        recordOf(part * RECORDS_PER_PART + n),
      );
      const bytes = deflateRawSync(Buffer.concat(records.map(recordBytes)), { level: 1 });
      await apply({ type: 'restore.add', id: 'a', part, bytes: bytes.toString('base64') });
      if (store.backlogBytes > 2 ** 24) await store.flush();
      else await nextTurn();
    }
    const result = await apply({ type: 'restore.commit', id: 'a', parts, records: count });
    await store.flush();
    const ms = performance.now() - begin;
    const heldMs = loop.stop();
    if (!result.ok) throw new Error(result.refusal.message);
    if (round === 1) row([figure(count), `${figure(ms)} ms`, `${figure(heldMs)} ms`]);
  }
  await store.close();
  await rm(dir, { recursive: true });
}

function recordOf(n: number): [string, string] {
  const name = `entry-${String(n).padStart(8, '0')}`;
  const text = `{"Kind":"service-defaults","Name":"${name}","Protocol":"http","Meta":{"owner":"team-${n % 97}"}`;
  const value = `${text},"CreateIndex":1,"ModifyIndex":1,"Namespace":"default"}`;
  return [keys.config('default', 'service-defaults', name), value];
}

/** Measures the longest time between two turns of the event loop. */
function watchLoop(): { stop(): number } {
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}
