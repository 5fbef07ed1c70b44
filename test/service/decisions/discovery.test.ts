/** Where a node says that decisions are made. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { authzenRoutes } from '../../../src/http/routes/authzen.js';
import { startFront } from '../../http/harness.js';
import { partsOf } from '../serve.js';
import { Solo } from '../solo.js';

const fixture = (name: string): string => join('test', 'transport', 'fixtures', name);
const tls = { cert: fixture('member.pem'), key: fixture('member.key') };
const CALL = '/.well-known/authzen-configuration';

/** The status and the body that a node with TLS answers. */
async function asked(
  { host, url }: { readonly host: string; readonly url?: string },
  headers: Record<string, string> = {},
): Promise<[status: number, body: string]> {
  const authzen = { url, anonymousCallers: false };
  const parts = { ...partsOf(new Solo()), authzen };
  const front = await startFront(authzenRoutes(parts), {}, { tls });
  try {
    return await new Promise((resolve, reject) => {
      const ca = readFileSync(fixture('authority.pem'));
      const to = { host: '127.0.0.1', port: front.listener.port, path: CALL, ca };
      const all = { ...to, headers: { host, ...headers }, checkServerIdentity: () => undefined };
      request(all, (answer) => {
        let body = '';
        answer.on('data', (part) => {
          body += part;
        });
        answer.on('end', () => resolve([answer.statusCode!, body]));
      })
        .on('error', reject)
        .end();
    });
  } finally {
    await front.close();
  }
}
const baseOf = async (...given: Parameters<typeof asked>): Promise<string> => {
  const [status, body] = await asked(...given);
  expect(status, body).to.equal(200);
  const { policy_decision_point: base, access_evaluation_endpoint: one } = JSON.parse(body);
  expect(one).to.equal(`${base}/access/v1/evaluation`);
  return base;
};

describe('the configuration of the Authorization API', () => {
  it('names the host of a request with TLS', async () => {
    expect(await baseOf({ host: 'pdp.example.com:8501' })).to.equal('https://pdp.example.com:8501');
    expect(await baseOf({ host: '[::1]:8501' })).to.equal('https://[::1]:8501');
  });

  it('names the address of the settings before any host', async () => {
    const url = 'https://pdp.example.com/tenant';
    expect(await baseOf({ host: 'other', url })).to.equal(url);
  });

  it('names no host that is no part of an address', async () => {
    for (const host of ['a/b', 'a?b', 'a#b', 'user@a', 'a b'])
      expect((await asked({ host }))[0], host).to.be.oneOf([400, 403, 404]);
  });

  it('is for everybody, whatever token they send', async () => {
    const token = '99999999-2222-4333-8444-555555555555';
    const headers = { authorization: `Bearer ${token}` };
    expect(await baseOf({ host: 'a' }, headers)).to.equal('https://a');
  });
});
