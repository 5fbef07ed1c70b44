import { expect } from 'chai';
import type { Log } from '../../src/log/log.js';
import { nodeLog } from '../../src/program/node-log.js';

describe('node: its own reports in the log', () => {
  const id = '00000000-0000-4000-8000-000000000001';
  const lines: unknown[] = [];
  const line = (fields: object, message: string): void => void lines.push([fields, message]);
  const log = nodeLog({ info: line } as unknown as Log, () => [{ id, name: 'one' }]);
  beforeEach(() => lines.splice(0));

  it('name the member that a report is about', () => {
    log('info', `node ${id} is reachable`, 'peer_reachable', id);
    const fields = { event: 'peer_reachable', peer: 'one' };
    expect(lines).to.deep.equal([[fields, `one: node ${id} is reachable`]]);
  });

  it('name no member because of the words of a report', () => {
    const text = `said "node ${id}"`;
    log('info', text, 'peer_reachable');
    log('info', text, 'peer_reachable', 'a stranger');
    const plain = [{ event: 'peer_reachable' }, text];
    expect(lines).to.deep.equal([plain, plain]);
  });
});
