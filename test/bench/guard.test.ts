import { expect } from 'chai';
import { withFloor } from '../../scripts/bench/floor-servers.js';
import { worsened } from '../../scripts/bench/guard.js';
import { Line } from '../../scripts/bench/line.js';
import { wake } from '../../scripts/bench/watch.js';

describe('the guard of npm run bench', () => {
  const kept = { writes: { cpu: 4, rate: 0.5 }, watchers: { time: 2 } };

  it('names what costs more, is slower or takes longer than 15 % beyond the kept results', () => {
    const now = { writes: { cpu: 4.8, rate: 0.4 }, watchers: { time: 2.4 } };
    expect(worsened(kept, now)).to.deep.equal([
      'writes: cpu is 20 % worse (4.00 before, 4.80 now)',
      'writes: rate is 25 % worse (0.500 before, 0.400 now)',
      'watchers: time is 20 % worse (2.00 before, 2.40 now)',
    ]);
  });

  it('lets pass what is within 15 % or better, and names what was never kept', () => {
    expect(worsened(kept, { writes: { cpu: 4.5, rate: 0.45 }, watchers: { time: 1 } })).to.be.empty;
    expect(worsened(kept, { reads: { cpu: 9 }, watchers: { time: 1, rate: 2 } })).to.deep.equal([
      'reads: there is no kept cpu (9.00 now)',
      'watchers: there is no kept rate (2.00 now)',
    ]);
  });
});

describe('the bare servers of npm run bench', () => {
  it('replicate a write to all, list by kind, and wake those who wait for it', async () => {
    await withFloor(async (floor) => {
      const lines = floor.targets.map((target) => new Line(target));
      for (const [at, line] of lines.entries()) {
        const write = JSON.stringify({ Kind: 'service-resolver', Name: `b${at}` });
        expect(
          (await line.ask({ method: 'PUT', path: '/v1/config', body: write })).status,
        ).to.equal(200);
      }
      const target = floor.targets[2]!;
      await wake({ target, watchers: 3, name: 'a', held: () => floor.held(2) });
      const read = async (line: Line, path: string) =>
        (await line.ask({ method: 'GET', path })).body.toString();
      expect(await read(lines[2]!, '/v1/config/service-defaults/a?stale')).to.include('after 3');
      const listed = JSON.parse(await read(lines[0]!, '/v1/config/service-resolver')) as unknown[];
      expect(listed).to.have.length(3);
      expect(await floor.held()).to.equal(0);
      expect(await floor.cpuSeconds()).to.be.greaterThan(0);
      for (const line of lines) line.close();
    });
  });
});
