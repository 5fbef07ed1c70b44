/** Query parameters that are sent twice, or without a value. */
import { expect } from 'chai';
import { eventRoutes } from '../../src/http/routes/events.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from '../service/client.js';
import { partsOf } from '../service/serve.js';
import { Solo } from '../service/solo.js';

describe('a query parameter', () => {
  let client: SoloClient;
  before(async () => {
    const solo = new Solo();
    const parts = partsOf(solo);
    client = await SoloClient.open([...historyRoutes(parts), ...eventRoutes(parts)], solo);
    solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
    await client.must('PUT /namespace', { Name: 'red' });
  });
  after(async () => {
    client.solo.events.stop();
    await client.close();
  });

  const told = async (path: string): Promise<string> => {
    const { status, body, text } = await client.ask(`GET ${path}`);
    return `${status} ${body?.detail ?? text}`;
  };

  for (const [path, name] of [
    ['/events?topics=ACLRole&topics=ACLPolicy', 'topics'],
    ['/events?topics=ACLRole&payload=none&topics=', 'topics'],
    ['/history?types=policy&types=role', 'types'],
    ['/export?ns=default&ns=red', 'ns'],
    ['/acl/token/self/rights?sources=true&sources=false', 'sources'],
  ] as const)
    it(`with two values is refused by a path of this server alone: ${path}`, async () => {
      const why = `Parameter "${name}" is sent twice with different values: send one`;
      expect(await told(path)).to.equal(`400 ${why}`);
    });

  it('with the same value twice is taken', async () => {
    expect(await told('/history?types=policy&types=policy')).to.match(/^200 /);
  });

  it('with two values has the first on paths of Consul', async () => {
    const list = await client.ask('GET /acl/policies?ns=default&ns=nowhere&stale&stale=1');
    expect(list.body).to.deep.equal(await client.must('GET /acl/policies?ns=default'));
  });

  for (const [path, words] of [
    ['/acl/token/self/rights?sources', 'false or true'],
    ['/acl/token/self/rights?sources=', 'false or true'],
    ['/events?logins', 'false or true'],
    ['/events?payload', 'full or none'],
    ['/history?logins', 'false or true'],
    ['/export?ids', 'false or true'],
    ['/export?partial=', 'false or true'],
  ] as const)
    it(`that is one of some words is refused without a value: ${path}`, async () => {
      const name = /\?(\w+)/.exec(path)![1];
      expect(await told(path)).to.equal(`400 Invalid parameter "${name}": "" should be ${words}`);
    });
});
