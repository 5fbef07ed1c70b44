/** Runs `conclave migrate` from a server that plays a source to a node in this process. */
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorizeRoutes } from '../../src/http/routes/authorize.js';
import { documentRoutes } from '../../src/http/routes/documents.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import { aclConfigurationRoutes } from '../../src/http/routes/operator.js';
import type { Route } from '../../src/http/routes/types.js';
import type { Command } from '../../src/state/types.js';
import { type Given, type Ran, User } from '../cli/harness.js';
import { SoloClient } from '../service/client.js';
import { partsOf } from '../service/serve.js';
import { Solo } from '../service/solo.js';
import { type Faults, type Recorded, recordedSource, StandIn } from './stand-in.js';

/** What a node in this process does not say of itself. */
export const SELF: readonly Route[] = [
  {
    path: '/v1/operator/level',
    GET: (request) => request.answerValue({ Level: 3, Supported: 3, Members: [], Waiting: [] }),
  },
  {
    path: '/v1/agent/self',
    GET: (request) => request.answerValue({ Config: { Datacenter: 'dc1' } }),
  },
];

/** What objects are moved from. */
interface Source {
  readonly url: string;
  readonly token: string;
  close(): unknown;
}

/** A source, a node, and a user between them. */
export class Moving<S extends Source = StandIn> {
  readonly cluster: SoloClient;
  readonly user = new User();
  source: S;

  constructor(cluster: SoloClient, source: S) {
    this.cluster = cluster;
    this.source = source;
  }

  static async start(recorded: Recorded = recordedSource('community')): Promise<Moving> {
    return Moving.from(await StandIn.start(recorded));
  }

  static async from<S extends Source>(
    source: S,
    defaultPolicy: 'allow' | 'deny' = 'deny',
  ): Promise<Moving<S>> {
    const solo = new Solo(defaultPolicy);
    solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
    const asked = authorizeRoutes(solo.service);
    const own = [...documentRoutes, ...aclConfigurationRoutes(solo.service)];
    const more = [...historyRoutes(partsOf(solo)), ...own, ...asked, ...SELF];
    const policy = { defaultPolicy };
    const cluster = await SoloClient.open(more, solo, policy, policy);
    return new Moving(cluster, source);
  }

  /** Replaces the source by one with faults, at a port. */
  async replace(
    this: Moving,
    faults: Faults,
    recorded = this.source.recorded,
    port = 0,
  ): Promise<void> {
    this.source.close();
    this.source = await StandIn.start(recorded, faults, port);
  }

  /** Runs the command. `to`: where the target is, if not at its own address. */
  migrate(args: string, given: Given = {}, to = this.cluster.url): Promise<Ran> {
    const words = args.split(' ').filter((word) => word !== '');
    return this.user.run(['migrate', '--from', this.source.url, ...words], {
      ...given,
      env: {
        CONCLAVE_HTTP_ADDR: to,
        CONCLAVE_HTTP_TOKEN: this.cluster.token,
        MIGRATE_FROM_TOKEN: this.source.token,
        ...given.env,
      },
    });
  }

  /** The index of the node's state. */
  get index(): number {
    return this.cluster.solo.machine.appliedIndex();
  }

  async close(): Promise<void> {
    await this.source.close();
    this.user.leave();
    await this.cluster.close();
  }
}

/** A way to a node that is cut after so many requests. */
export function cutAfter(url: string, requests: number): Promise<Server & { url: string }> {
  let left = requests;
  return wayTo(url, ({ socket }) => {
    left -= 1;
    if (left < 0) socket.destroy();
    return left < 0;
  });
}

/** A way to a node. `takes`: answers a request itself, or returns false. */
export async function wayTo(
  url: string,
  takes: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean,
): Promise<Server & { url: string }> {
  const server = createServer((incoming, outgoing) => {
    if (takes(incoming, outgoing)) return;
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
