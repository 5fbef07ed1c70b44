import { expect } from 'chai';
import type { Log } from '../../src/log/log.js';
import { RecentLines } from '../../src/log/recent.js';

describe('The last warnings of the log', () => {
  const written: string[] = [];
  const write: Log['warn'] = (_fields, message) => written.push(message);
  const output: Log = { debug: write, info: write, warn: write, error: write };

  it('are kept without their members, newest first, equal ones once', () => {
    const recent = new RecentLines();
    const log = recent.of(output);
    log.info({ event: 'serving' }, 'serving');
    log.warn({ event: 'peer_unreachable', secret: 'x' }, 'n2 does not answer');
    log.error({ event: 'no_leader' }, 'there is no leader');
    log.warn({ event: 'peer_unreachable' }, 'n2 does not answer');
    expect(written).to.have.length(4);
    expect(recent.lines.map(({ ms, ...line }) => line)).to.deep.equal([
      { level: 'warn', event: 'peer_unreachable', message: 'n2 does not answer', count: 2 },
      { level: 'error', event: 'no_leader', message: 'there is no leader', count: 1 },
    ]);
  });

  it('are fifty at most', () => {
    const recent = new RecentLines();
    const log = recent.of(output);
    for (let nth = 0; nth < 200; nth += 1) log.warn({ event: 'no_leader' }, `line ${nth}`);
    expect(recent.lines).to.have.length(50);
    expect(recent.lines[0]!.message).to.equal('line 199');
  });
});
