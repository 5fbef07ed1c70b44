import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ChainEnd, chained, EMPTY_CHAIN } from '../../src/audit/chain.js';
import { type VerifyOptions, verify } from '../../src/audit/verify.js';
import { auditVerify } from '../../src/program/offline.js';

const lines = (count: number, key?: Uint8Array): string[] => {
  let end: ChainEnd = EMPTY_CHAIN;
  return Array.from({ length: count }, (_, at) => {
    const next = chained(end, `"created_at":"2026-11-21T20:00:00.000Z","n":"é${at}"`, key);
    end = next.end;
    return next.line;
  });
};
const hashOf = (line: string): string => JSON.parse(line).hash;

describe('audit: verify', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const judge = async (texts: readonly string[], options: VerifyOptions = {}) => {
    const files = texts.map((text, at) => {
      const file = join(folder, `${at}.json`);
      writeFileSync(file, text);
      return file;
    });
    const { ok, records, bad } = await verify(files, options);
    return bad === undefined
      ? { ok, records }
      : `${files.indexOf(bad.file)}:${bad.line} ${bad.why}`;
  };
  const fileOf = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');

  it('accepts a chain over several files, from its beginning or a later record', async () => {
    const all = lines(6);
    const parts = [fileOf(all.slice(0, 2)), fileOf(all.slice(2, 5)), fileOf(all.slice(5))];
    expect(await judge(parts)).to.deep.equal({ ok: true, records: 6 });
    expect(await judge(parts.slice(1))).to.deep.equal({ ok: true, records: 4 });
    expect(await judge([''])).to.deep.equal({ ok: true, records: 0 });
  });

  it('names the first bad line, and why it is bad', async () => {
    const all = lines(4);
    const changed = all.with(1, all[1]!.replace('é1', 'é7'));
    expect(await judge([fileOf(changed)])).to.equal('0:2 hash');
    expect(await judge([fileOf(all.toSpliced(1, 1))])).to.equal('0:2 seq');
    expect(await judge([fileOf(all.toSpliced(1, 0, 'x'))])).to.equal('0:2 json');
    expect(await judge([fileOf(all).slice(0, -1)])).to.equal('0:4 torn');
    expect(await judge([fileOf(all.toSpliced(2, 0, all[1]!))])).to.equal('0:3 seq');
    const { line: other } = chained({ seq: 1, hash: '1'.repeat(64) }, '"n":"new"', undefined);
    expect(await judge([fileOf([all[0]!, other])])).to.equal('0:2 prev');
    expect(await judge([fileOf(all.slice(0, 2)), fileOf(all.slice(3))])).to.equal('1:1 seq');
  });

  it('notices a line with a hash of its own after the hash', async () => {
    const [line] = lines(1);
    expect(await judge([`${line!.slice(0, -1)},"n":2}\n`])).to.equal('0:1 hash');
  });

  it('misses the end only if it is told what was seen', async () => {
    const all = lines(4);
    const seen = { seq: 4, hash: hashOf(all[3]!) };
    expect(await judge([fileOf(all)], { seen })).to.deep.equal({ ok: true, records: 4 });
    const short = fileOf(all.slice(0, 3));
    expect(await judge([short])).to.deep.equal({ ok: true, records: 3 });
    expect(await judge([short], { seen })).to.equal('0:3 cut');
    const other = { seq: 2, hash: '0'.repeat(64) };
    expect(await judge([fileOf(all)], { seen: other })).to.equal('0:2 cut');
  });

  it('tells a chain that was rewritten from one that was cut', async () => {
    const all = lines(4);
    const file = join(folder, 'last.json');
    const said = async (count: number): Promise<string> => {
      writeFileSync(file, fileOf(all.slice(0, count)));
      return (await auditVerify([file], undefined, `4:${'0'.repeat(64)}`)).text;
    };
    const why = 'record 4 is there with another hash: the chain was rewritten';
    expect(await said(4)).to.equal(`bad: ${file}, line 4, record 4 (cut): ${why}\n`);
    const cut = 'the record of --last is not among them: the end was cut off, or a file is missing';
    expect(await said(3)).to.equal(`bad: ${file}, line 3, record 4 (cut): ${cut}\n`);
  });

  it('says that a file without records may have been emptied, and how to know', async () => {
    const file = join(folder, 'empty.json');
    writeFileSync(file, '');
    const { text, failed = false } = await auditVerify([file], undefined, undefined);
    expect([text.split('\n').slice(0, 2).join(' '), failed]).to.deep.equal([
      'good: there are no records A file that was emptied looks the same. To know, give --last ' +
        'SEQ:HASH: the record that was',
      false,
    ]);
    const known = await auditVerify([file], undefined, `4:${'0'.repeat(64)}`);
    expect(known.failed).to.equal(true);
  });

  it('needs the key of a chain that has one', async () => {
    const key = Buffer.alloc(32, 7);
    const all = fileOf(lines(3, key));
    expect(await judge([all], { key })).to.deep.equal({ ok: true, records: 3 });
    expect(await judge([all])).to.equal('0:1 hash');
    expect(await judge([all], { key: Buffer.alloc(32, 8) })).to.equal('0:1 hash');
  });
});
