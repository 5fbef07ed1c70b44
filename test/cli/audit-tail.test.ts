import { expect } from 'chai';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const recordOf = (id: string) => ({
  created_at: '2026-11-21T20:00:00.000Z',
  payload: {
    id,
    node: 'n1',
    auth: { accessor_id: '', description: id },
    request: { operation: 'PUT', endpoint: '/v1/acl/role' },
    response: { status: '200' },
    reason: '',
  },
});
const tailOf = (...ids: string[]) => json({ Node: 'n1', Records: ids.map(recordOf), More: false });

describe('audit records that are followed', () => {
  const { user, fake } = fakeStage();

  it('are told to be missing, if none of those that were read last is left', async () => {
    const end = new AbortController();
    const address = await fake.serve(tailOf('b', 'a'), tailOf('c', 'b'), tailOf('z', 'y'));
    const args = ['audit', 'tail', '--follow', '--http-addr', address];
    let out = '';
    const { err } = await user.run(args, {
      signal: end.signal,
      onOut: (text) => {
        out += text;
        if (out.includes('by z')) end.abort();
      },
    });
    expect([...out.matchAll(/by (\w)\n/g)].map(([, id]) => id).join('')).to.equal('abcyz');
    expect(err.match(/records of .* may be missing here/g)).to.deep.equal([
      'records of n1 may be missing here',
    ]);
  });
});
