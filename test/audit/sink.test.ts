import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Sink, StdoutLines } from '../../src/audit/sink.js';
import { verify } from '../../src/audit/verify.js';
import { HeldOut, MADE_MS, record, sinkOver } from './sinks.js';

/** Returns what the records of a file say, and how many were dropped before each. */
const idsIn = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const { payload, dropped } = JSON.parse(line);
      return dropped === undefined ? payload.id : `${payload.id} after ${dropped}`;
    });

describe('audit: a sink', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'audit-'));
    path = join(folder, 'audit.json');
  });
  /** The rotated files, the oldest first, and the present one. */
  const all = (): string[] => {
    const rotated = readdirSync(folder).filter((name) => name !== 'audit.json');
    const seq = (name: string): number => Number(/-(\d+)\.json$/.exec(name)![1]);
    return [...rotated.sort((a, b) => seq(a) - seq(b)).map((name) => join(folder, name)), path];
  };

  it('goes on with its chain after a restart', async () => {
    for (const text of ['a', 'b', 'c']) {
      const { sink } = sinkOver(path);
      await sink.open();
      sink.note(record(text));
      await sink.close();
    }
    expect(idsIn(path)).to.deep.equal(['a', 'b', 'c']);
    expect(await verify([path])).to.include({ ok: true, records: 3, first: 1, last: 3 });
    expect(statSync(path).mode & 0o777).to.equal(0o600);
  });

  it('is refused to a second node on the same file, until the first has closed it', async () => {
    const { sink } = sinkOver(path, { rotateBytes: 10 });
    await sink.open();
    for (const text of ['a', 'b']) sink.note(record(text));
    const link = join(folder, 'other');
    symlinkSync(folder, link);
    for (const same of [path, join(link, 'audit.json')]) {
      const refused = await sinkOver(same)
        .sink.open()
        .catch((error: Error) => error.message);
      expect(refused).to.equal(
        `${same} is in use by another process: each node needs a file of its own`,
      );
    }
    await sink.close();
    const { sink: next } = sinkOver(path);
    await next.open();
    await next.close();
  });

  it('loses nothing when it is rotated, and deletes the oldest files', async () => {
    const more = { rotateBytes: 4096, rotateMaxFiles: 3, deliveryGuarantee: 'required' };
    let nowMs = MADE_MS;
    const tick = (): number => {
      nowMs += 1;
      return nowMs;
    };
    const { sink } = sinkOver(path, more, { nowMs: tick });
    await sink.open();
    for (let n = 0; n < 100; n += 1) await sink.note(record(`${n} ${'x'.repeat(300)}`));
    expect(sink.status()).to.include({ Seq: 100, Files: 4, Dropped: 0 });
    await sink.close();
    const files = all();
    expect(files).to.have.length(4);
    const verdict = await verify(files);
    expect(verdict).to.include({ ok: true, last: 100 });
    expect(verdict.first).to.be.greaterThan(1);
    for (const file of files) expect(statSync(file).size).to.be.at.most(4096);
  });

  it('is rotated by age, also that of the file before a restart', async () => {
    let nowMs = MADE_MS;
    const more = { rotateDuration: '1h' };
    for (const text of ['a', 'b', 'c']) {
      const { sink } = sinkOver(path, more, { nowMs: () => nowMs });
      await sink.open();
      sink.note(record(text));
      await sink.close();
      nowMs += 40 * 60_000;
    }
    const [rotated] = all();
    expect(rotated).to.match(/audit-20261121T212000\.000Z-1\.json$/);
    expect([idsIn(rotated!), idsIn(path)]).to.deep.equal([['a', 'b'], ['c']]);
    expect((await verify(all())).ok).to.equal(true);
  });

  it('goes on with the chain of the rotated file if it was stopped right after', async () => {
    const first = sinkOver(path);
    await first.sink.open();
    first.sink.note(record('a'));
    await first.sink.close();
    renameSync(path, join(folder, 'audit-20261121T200000.000Z-1.json'));
    const { sink } = sinkOver(path);
    await sink.open();
    sink.note(record('b'));
    await sink.close();
    expect(await verify(all())).to.include({ ok: true, records: 2 });
  });

  it('cuts off a torn line, and says how much of it was lost', async () => {
    const first = sinkOver(path);
    await first.sink.open();
    first.sink.note(record('a'));
    await first.sink.close();
    appendFileSync(path, '{"created_at":"2026');
    expect((await verify([path])).bad).to.deep.equal({ file: path, line: 2, seq: 0, why: 'torn' });
    const { sink } = sinkOver(path);
    await sink.open();
    await sink.close();
    expect(idsIn(path)).to.deep.equal(['a', 'recovered 19']);
    expect((await verify([path])).ok).to.equal(true);
  });

  it('is not opened over a file that ends with something else', async () => {
    appendFileSync(path, 'not a record\n');
    const opened = await sinkOver(path)
      .sink.open()
      .catch((error: Error) => error.message);
    expect(opened).to.match(/^the last line of .* is not an audit record$/);
  });

  describe('that is closed', () => {
    const anyway = (done: Promise<void>): Promise<void> => {
      mock.timers.tick(60_000);
      return done;
    };
    const isFailing = async (sink: Sink): Promise<void> => {
      while (!sink.status().Failing) await new Promise((resolve) => setTimeout(resolve, 5));
    };

    it('counts what comes later, and leaves its file alone', async () => {
      const { sink } = sinkOver(path);
      await sink.open();
      sink.note(record('a'));
      await sink.close();
      expect(sink.note(record('late'))).to.equal(undefined);
      await sink.close();
      expect(idsIn(path)).to.deep.equal(['a']);
      expect(sink.status().Dropped).to.equal(1);
    });

    it('tries once more what could not be written', async () => {
      const { sink, files, told } = sinkOver(path);
      await sink.open();
      files.failsAfter = 7;
      sink.note(record('a'));
      await isFailing(sink);
      files.failsAfter = undefined;
      await sink.close();
      expect(idsIn(path)).to.deep.equal(['a']);
      expect(told.at(-1)).to.equal('main is written, 0 dropped');
    });

    it('counts what still cannot be written, and tells it', async () => {
      const { sink, files, told } = sinkOver(path);
      await sink.open();
      files.failsAfter = 7;
      for (const text of ['a', 'b']) sink.note(record(text));
      await isFailing(sink);
      await sink.close();
      expect(idsIn(path)).to.deep.equal([]);
      expect(sink.status().Dropped).to.equal(2);
      expect(told.at(-1)).to.equal('main fails: closed while records waited: 2');
    });

    for (const deliveryGuarantee of ['best-effort', 'required'])
      it(`does not wait for a disk that hangs, if it is ${deliveryGuarantee}`, async () => {
        const { sink, files, told } = sinkOver(path, { deliveryGuarantee });
        await sink.open();
        let wake = (): void => {};
        files.hangs = new Promise((resolve) => {
          wake = resolve;
        });
        const written = sink.note(record('a'));
        while (files.writes === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        mock.timers.enable({ apis: ['setTimeout'] });
        try {
          await anyway(sink.close());
        } finally {
          mock.timers.reset();
        }
        expect(await written).to.equal(deliveryGuarantee === 'required' ? false : undefined);
        expect(sink.status().Dropped).to.equal(1);
        expect(told).to.deep.equal(['main fails: closed while records waited: 1']);
        wake();
      });
  });

  describe('of type stdout', () => {
    it('goes on with its chain after a write that failed', async () => {
      const lines: string[] = [];
      let isBroken = false;
      const stream = {
        on() {},
        write(chunk: Buffer, done: (error?: Error) => void) {
          if (isBroken) return done(new Error('EPIPE'));
          lines.push(chunk.toString());
          done();
        },
      };
      const { sink, told } = sinkOver(path, {}, { out: new StdoutLines(stream as never) });
      await sink.open();
      sink.note(record('a'));
      while (sink.status().Seq < 1) await nextTurn();
      isBroken = true;
      const { Bytes } = sink.status();
      sink.note(record('b'));
      while (!sink.status().Failing) await nextTurn();
      expect(sink.status()).to.include({ Seq: 1, Bytes });
      isBroken = false;
      await sink.close();
      writeFileSync(path, lines.join(''));
      expect(idsIn(path)).to.deep.equal(['a', 'b']);
      expect(await verify([path])).to.include({ ok: true, records: 2 });
      expect(told).to.deep.equal(['main fails: EPIPE', 'main is written, 0 dropped']);
    });
  });

  describe('that is required', () => {
    const REQUIRED = { deliveryGuarantee: 'required' };

    it('has a record on the disk before it says so, one sync for all that wait', async () => {
      const { sink, files } = sinkOver(path, REQUIRED);
      await sink.open();
      const all = await Promise.all(['a', 'b', 'c'].map((text) => sink.note(record(text))));
      expect(all).to.deep.equal([true, true, true]);
      expect(idsIn(path)).to.deep.equal(['a', 'b', 'c']);
      expect(files.syncs).to.equal(1);
      await sink.close();
    });

    it('refuses while the disk is full, keeps whole lines, and goes on by itself', async () => {
      const { sink, files, told, onFailing } = sinkOver(path, REQUIRED);
      let failed = 0;
      onFailing(() => {
        failed += 1;
      });
      await sink.open();
      expect(await sink.note(record('a'))).to.equal(true);
      const { size } = statSync(path);
      files.failsAfter = 20;
      expect(await sink.note(record('b'))).to.equal(false);
      expect(statSync(path).size).to.equal(size);
      expect([sink.mustRefuse, await sink.note(record('c'))]).to.deep.equal([true, false]);
      expect(sink.status()).to.include({ Failing: true, Dropped: 2, Seq: 1 });
      expect(sink.status().LastError).to.equal('no space left on device');
      const { writes } = files;
      const again = async (): Promise<void> => {
        while (files.writes === writes) await new Promise((resolve) => setTimeout(resolve, 20));
      };
      await again();
      files.failsAfter = undefined;
      while (sink.mustRefuse) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await sink.note(record('d'))).to.equal(true);
      await sink.close();
      expect(idsIn(path)).to.deep.equal(['a', 'recovered 0 after 2', 'd']);
      expect((await verify([path])).ok).to.equal(true);
      expect(told).to.deep.equal([
        'main fails: no space left on device',
        'main is written, 2 dropped',
      ]);
      expect(failed).to.be.at.least(2);
    });

    it('gives up what a disk that hangs does not write in time', async () => {
      const { sink, files } = sinkOver(path, REQUIRED, { requestMs: 30 });
      await sink.open();
      let wake = (): void => {};
      files.hangs = new Promise((resolve) => {
        wake = resolve;
      });
      expect(await sink.note(record('late'))).to.equal(false);
      expect(await sink.note(record('refused'))).to.equal(false);
      files.hangs = undefined;
      wake();
      while (sink.mustRefuse) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await sink.note(record('d'))).to.equal(true);
      await sink.close();
      expect((await verify([path])).ok).to.equal(true);
      // the disk had it in the end, which the client does not know
      expect(idsIn(path)[0]).to.equal('late');
      expect(idsIn(path).at(-1)).to.match(/^d/);
    });
  });

  describe('of best effort', () => {
    it('writes a batch of any length whole, whatever its characters', async () => {
      const { sink } = sinkOver(path);
      await sink.open();
      const texts = Array.from({ length: 40 }, (_, at) => `${at} ${'€'.repeat(20_000)}`);
      for (const text of texts) sink.note(record(text));
      await sink.close();
      expect(idsIn(path)).to.deep.equal(texts);
      expect(await verify([path])).to.include({ ok: true, records: 40 });
    });

    it('gathers records after each write, and not only after the first one', async () => {
      const out = new HeldOut();
      const { sink } = sinkOver(path, {}, { out });
      await sink.open();
      sink.note(record('a'));
      await out.begun();
      sink.note(record('b'));
      out.release();
      // all that follows in the same turn of the event loop
      for (let n = 0; n < 50; n += 1) await undefined;
      sink.note(record('c'));
      await out.begun();
      expect(out.written).to.deep.equal([['a'], ['b', 'c']]);
      out.release();
      await sink.close();
    });

    it('does not wait for more than a batch', async () => {
      const { sink } = sinkOver(path);
      await sink.open();
      // time stands still
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        for (let n = 0; n < 256; n += 1) sink.note(record(String(n)));
        while (sink.status().Seq < 256) await nextTurn();
      } finally {
        mock.timers.reset();
      }
      await sink.close();
    });

    it('tells once that records come too fast, and once that it has caught up', async () => {
      const out = new HeldOut();
      const { sink, told } = sinkOver(path, {}, { out });
      await sink.open();
      const flood = (): void => {
        for (let n = 0; n < 600; n += 1) sink.note(record('x'.repeat(8192)));
      };
      for (let batch = 0; batch < 4; batch += 1) {
        flood();
        await out.begun();
        out.release();
      }
      const { Dropped } = sink.status();
      expect(Dropped).to.be.greaterThan(600);
      const closed = sink.close();
      while (out.written.flat().length + Dropped < 2400) {
        await out.begun();
        out.release();
      }
      await closed;
      expect(told).to.deep.equal([
        'main fails: records come too fast',
        `main is written, ${Dropped} dropped`,
      ]);
    });

    it('keeps 4 MiB while the disk is full, counts what does not fit, and tells it', async () => {
      const { sink, files, told } = sinkOver(path);
      await sink.open();
      files.failsAfter = 7;
      const big = 'x'.repeat(2 ** 20);
      for (let n = 0; n < 6; n += 1) expect(sink.note(record(`${n}${big}`))).to.equal(undefined);
      while (!sink.status().Failing) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(sink.mustRefuse).to.equal(false);
      files.failsAfter = undefined;
      while (sink.status().Failing) await new Promise((resolve) => setTimeout(resolve, 5));
      await sink.close();
      const kept = idsIn(path).map((id) => id.replace(big, ''));
      expect(kept).to.deep.equal(['0 after 3', '1', '2']);
      expect((await verify([path])).ok).to.equal(true);
      expect(told.filter((line) => line.includes('no space'))).to.have.length(1);
      expect(told.at(-1)).to.equal('main is written, 3 dropped');
    });
  });
});
