import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { refusal } from '../../src/base/errors.js';
import type { Message } from '../../src/raft/types.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { lineOf } from '../../src/state/request-records.js';
import type { Command } from '../../src/state/types.js';
import { encodeSealed } from '../../src/storage/record.js';
import { encodeBatch, entryDraft, HEAD_BYTES, saltOf } from '../../src/storage/segment-record.js';
import { storedValue } from '../../src/storage/state-load.js';
import { encodeFrame } from '../../src/transport/frames.js';

const document = readFileSync('docs/formats.md', 'utf8');

/** The document's example of this name. */
const example = (name: string): string | undefined =>
  new RegExp(`^ {4}${name} +(.+)$`, 'm').exec(document)?.[1];
const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => HEX[byte]).join(' ');
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const from = { from: 'n1', to: 'n2', term: 3 };
const message = (fields: object): Buffer =>
  Buffer.concat(encodeFrame({ type: 'message', message: { ...from, ...fields } as Message }));

describe('docs/formats.md', () => {
  it('shows the bytes that the code writes', () => {
    const noop = { kind: 'noop', index: 5, term: 3 } as const;
    const entry = { ...noop, kind: 'command' as const, data: Buffer.from('abc') };
    const place = { salt: saltOf(1), batch: 9, previous: 0x01020304 };
    const { bytes } = encodeBatch([entryDraft(entry, 2)], place);
    const hardState = { term: 3, votedFor: 'n1' };
    const marks = { version: 2, hardState, batch: 9, lastIndex: 5 };
    const command = { type: 'policy.delete', v: 1, ns: 'default', id: 'p' } as Command;
    const append = { prevIndex: 4, prevTerm: 2, commit: 4, round: 7 };
    const shown = 'head payload witness state applied refused command ping vote append'.split(' ');
    expect(Object.fromEntries(shown.map((name) => [name, example(name)]))).to.deep.equal({
      head: hex(bytes.subarray(0, HEAD_BYTES)),
      payload: hex(bytes.subarray(HEAD_BYTES)),
      witness: hex(encodeSealed(Buffer.from('witness'), { turn: 7, marks })),
      state: storedValue('fact\u0000init', '{"Index":2}'),
      applied: lineOf('r1', { ok: true, index: 7, value: 'true' }).trimEnd(),
      refused: lineOf('r2', { ok: false, index: 9, refusal: refusal('conflict', 'no') }).trimEnd(),
      command: hex(encodeProposal({ id: 'r1', since: 4, command })),
      ping: hex(Buffer.concat(encodeFrame({ type: 'ping' }))),
      vote: hex(message({ type: 'vote', lastIndex: 5, lastTerm: 2 })),
      append: hex(message({ type: 'append', ...append, entries: [noop] })),
    });
  });

  it('names every command', () => {
    for (const type of Object.keys(HANDLERS)) expect(document).to.include(`\`${type}\``);
  });

  it('names every table of the state', () => {
    const source = readFileSync('src/state/keys.ts', 'utf8');
    const tables = [...source.matchAll(/keyOf\(\s*(?:\.\.\.\[)?'([\w-]+)'/g)].map(
      ([, name]) => name,
    );
    expect(tables.length).to.be.greaterThan(20);
    for (const table of tables) expect(document).to.match(new RegExp(`\`${table}[·\`]`));
  });
});
