/** Runs `conclave migrate` from a server that plays a source to a cluster of one node. */
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Given, type Ran, User } from '../cli/harness.js';
import { until } from '../cluster/operator.js';
import { RealCluster } from '../support/real-cluster.js';
import { type Faults, type Recorded, recordedSource, StandIn } from './stand-in.js';

/** A source, a cluster, and a user between them. */
export class Moving {
  readonly cluster: RealCluster;
  readonly user = new User();
  source: StandIn;

  constructor(cluster: RealCluster, source: StandIn) {
    this.cluster = cluster;
    this.source = source;
  }

  static async start(recorded: Recorded = recordedSource('community')): Promise<Moving> {
    const cluster = await RealCluster.open(1);
    await until(
      () => cluster.must('GET /operator/level'),
      ({ Level }) => Level >= 3,
    );
    return new Moving(cluster, await StandIn.start(recorded));
  }

  /** Replaces the source by one with faults, at a port. */
  async replace(faults: Faults, recorded = this.source.recorded, port = 0): Promise<void> {
    this.source.close();
    this.source = await StandIn.start(recorded, faults, port);
  }

  /** Runs the command. `to`: where the target is, if not at its own address. */
  migrate(args: string, given: Given = {}, to = this.cluster.urls[0]!): Promise<Ran> {
    const words = args.split(' ').filter((word) => word !== '');
    return this.user.run(['migrate', '--from', this.source.url, ...words], {
      ...given,
      env: {
        CONCLAVE_HTTP_ADDR: to,
        CONCLAVE_HTTP_TOKEN: this.cluster.token!,
        MIGRATE_FROM_TOKEN: this.source.token,
        ...given.env,
      },
    });
  }

  /** Returns the index of the cluster's state. */
  async index(): Promise<number> {
    return (await this.cluster.must('POST /plan', { Objects: [] })).Index;
  }

  async close(): Promise<void> {
    this.source.close();
    this.user.leave();
    await this.cluster.close();
  }
}

/** A way to a node that is cut after so many requests. */
export async function cutAfter(url: string, requests: number): Promise<Server & { url: string }> {
  let left = requests;
  const server = createServer((incoming, outgoing) => {
    left -= 1;
    if (left < 0) {
      incoming.socket.destroy();
      return;
    }
    const { method, headers } = incoming;
    const on = request(`${url}${incoming.url}`, { method: method!, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(on);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(server, { url: `http://127.0.0.1:${port}` });
}
