/** The clients of chaos whose rights are taken, beside a server that heeds rights wrongly. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { RightsWorkload } from '../../cluster/chaos/rights.js';
import { Random } from '../../cluster/checker/random.js';
import { until } from './operator.js';

/** The names of all entries that a client may have made. */
const NAMES = JSON.stringify(Array.from({ length: 100 }, (_, n) => `rights-${n}`));

/** What answers the making of anything. */
const ANSWER = JSON.stringify({ ID: 'x', AccessorID: 'x', SecretID: 'x' });

describe('the clients whose rights are taken', () => {
  let server: Server;
  /** Whether the server allows what needs a right. */
  let allows: boolean;
  before((done) => {
    server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        const { url = '', method } = request;
        const isManaged = url.startsWith('/v1/acl/') || method === 'DELETE';
        if (url.includes('authorize')) response.end(JSON.stringify([{ Allow: allows }]));
        else if (url === '/v1/plan')
          response.end(JSON.stringify({ Changes: [{ Allowed: allows }] }));
        else if (url === '/v1/config/service-resolver') response.end(allows ? NAMES : '[]');
        else response.writeHead(isManaged || allows ? 200 : 403).end(ANSWER);
      });
    }).listen(0, '127.0.0.1', done);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Lets a client work until it has judged something. */
  const judge = async (isRestoring: boolean): Promise<RightsWorkload> => {
    const { port } = server.address() as AddressInfo;
    const urls = [`http://127.0.0.1:${port}`];
    const workload = new RightsWorkload(urls, 'secret', new Random(1), () => isRestoring);
    const { counts, anomalies } = workload;
    workload.start(1, 1);
    await until(
      async () => anomalies.length + counts.notJudged,
      (judged) => judged > 60,
    );
    await workload.stop();
    return workload;
  };

  it('find one that heeds a right after it was taken, by each use and way', async () => {
    allows = true;
    const { anomalies, counts } = await judge(false);
    const all = anomalies.join('\n');
    expect(all).to.include('after identitiesRevoked was acknowledged');
    for (const use of ['default read', 'consistent read', 'write', 'list', 'plan', 'decision'])
      expect(all).to.include(`a ${use} of`);
    expect(all)
      .to.match(/was allowed after \w+ was acknowledged/)
      .and.not.include('refused');
    expect(counts.used).to.be.greaterThan(0);
    expect(counts.refused).to.equal(0);
  });

  it('find one that refuses a right that was granted', async () => {
    allows = false;
    const { anomalies, counts } = await judge(false);
    expect(anomalies[0]).to.match(/was refused after granted was acknowledged/);
    expect(counts.used).to.equal(0);
  });

  it('judge nothing beside a restore, which may bring rights back', async () => {
    allows = true;
    const { anomalies } = await judge(true);
    expect(anomalies).to.deep.equal([]);
  });
});
