/** GET /v1/discovery-chain/:service: nodes, targets, rights, modes and blocking. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SoloClient } from '../service/client.js';
import type { Solo } from '../service/solo.js';

const http = (Name: string) => ({ Kind: 'service-defaults', Name, Protocol: 'http' });
const splitter = (Name: string, Splits: object[]) => ({ Kind: 'service-splitter', Name, Splits });
const resolver = (Name: string, more: object) => ({ Kind: 'service-resolver', Name, ...more });

describe('kinds: discovery chains over HTTP', () => {
  let solo: Solo;
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    solo = client.solo;
  });
  afterEach(() => client.close());

  const put = async (...bodies: object[]): Promise<void> => {
    for (const body of bodies) await client.must('PUT /config', body);
  };
  const chainOf = async (path: string) => (await client.must(`GET /discovery-chain/${path}`)).Chain;

  it('of a service without entries ends in the service itself', async () => {
    expect(await chainOf('web')).to.deep.equal({
      ServiceName: 'web',
      Namespace: 'default',
      Datacenter: 'dc1',
      Protocol: 'tcp',
      StartNode: 'resolver:web.default.default.dc1',
      Nodes: {
        'resolver:web.default.default.dc1': {
          Type: 'resolver',
          Name: 'web.default.default.dc1',
          Resolver: { Default: true, ConnectTimeout: '5s', Target: 'web.default.default.dc1' },
        },
      },
      Targets: {
        'web.default.default.dc1': {
          ID: 'web.default.default.dc1',
          Service: 'web',
          Namespace: 'default',
          Datacenter: 'dc1',
          Subset: {},
          MeshGateway: {},
        },
      },
    });
  });

  it('shows a router, with the route to the service itself last', async () => {
    await put(http('web'), http('api'));
    const Match = { HTTP: { PathPrefix: '/api' } };
    const Routes = [{ Match, Destination: { Service: 'api', NumRetries: 3 } }, { Match }];
    await put({ Kind: 'service-router', Name: 'web', Routes });
    const { Nodes, Protocol, StartNode } = await chainOf('web');
    expect([Protocol, StartNode]).to.deep.equal(['http', 'router:web']);
    const web = 'resolver:web.default.default.dc1';
    expect(Nodes['router:web']).to.deep.equal({
      Type: 'router',
      Name: 'web',
      Routes: [
        { Definition: Routes[0], NextNode: 'resolver:api.default.default.dc1' },
        { Definition: Routes[1], NextNode: web },
        {
          Definition: {
            Match: { HTTP: { PathPrefix: '/' } },
            Destination: { Service: 'web', Namespace: 'default' },
          },
          NextNode: web,
        },
      ],
    });
    expect(Object.keys(Nodes)).to.have.lengthOf(3);
  });

  it('flattens splitters behind splitters, and leaves those out', async () => {
    await put(http('a'), http('b'), http('c'), http('d'));
    await put(splitter('c', [{ Weight: 33.33, Service: 'd' }, { Weight: 66.67 }]));
    await put(splitter('b', [{ Weight: 50 }, { Weight: 50, Service: 'c' }]));
    await put(
      splitter('a', [{ Weight: 10 }, { Weight: 60, Service: 'b' }, { Weight: 30, Service: 'c' }]),
    );
    const { Nodes, StartNode } = await chainOf('a');
    expect(StartNode).to.equal('splitter:a');
    const to = (service: string): string => `resolver:${service}.default.default.dc1`;
    expect(Nodes['splitter:a']).to.deep.equal({
      Type: 'splitter',
      Name: 'a',
      Splits: [
        { Weight: 10, NextNode: to('a') },
        { Weight: 30, NextNode: to('b') },
        { Weight: 20, NextNode: to('d') },
        { Weight: 40, NextNode: to('c') },
      ],
    });
    expect(Object.keys(Nodes).sort()).to.deep.equal(
      [...'abcd'].map(to).concat('splitter:a').sort(),
    );
  });

  it('of splitters in many layers stays small', async () => {
    const layers = 20;
    for (let n = layers; n >= 0; n -= 1) {
      for (const side of ['l', 'r']) {
        await put(http(`${side}${n}`));
        const below = ['l', 'r'].map((each) => ({ Weight: 50, Service: `${each}${n + 1}` }));
        if (n < layers) await put(splitter(`${side}${n}`, below));
      }
    }
    const { Nodes } = await chainOf('l0');
    expect(Nodes['splitter:l0'].Splits).to.deep.equal([
      { Weight: 50, NextNode: `resolver:l${layers}.default.default.dc1` },
      { Weight: 50, NextNode: `resolver:r${layers}.default.default.dc1` },
    ]);
  });

  it('follows subsets, redirects and failovers, to peers and other datacenters', async () => {
    await put(
      resolver('Web', {
        ConnectTimeout: '15s',
        DefaultSubset: 'v1',
        Subsets: { v1: { Filter: 'Service.Meta.v == 1', OnlyPassing: true }, v2: {} },
        Failover: {
          v1: { Datacenters: ['dc2', 'dc3'] },
          '*': { Targets: [{ Service: 'old' }, { Peer: 'east' }] },
        },
      }),
      resolver('old', { Redirect: { Service: 'web', ServiceSubset: 'v2', Datacenter: 'dc9' } }),
    );
    const { Nodes, ServiceName, StartNode, Targets } = await chainOf('web');
    expect([ServiceName, StartNode]).to.deep.equal(['Web', 'resolver:v1.Web.default.default.dc1']);
    expect(Nodes).to.deep.equal({
      [StartNode]: {
        Type: 'resolver',
        Name: 'v1.Web.default.default.dc1',
        Resolver: {
          Default: false,
          ConnectTimeout: '15s',
          Target: 'v1.Web.default.default.dc1',
          Failover: { Targets: ['v1.Web.default.default.dc2', 'v1.Web.default.default.dc3'] },
        },
      },
    });
    expect(Targets['v1.Web.default.default.dc2']).to.deep.equal({
      ID: 'v1.Web.default.default.dc2',
      Service: 'Web',
      ServiceSubset: 'v1',
      Namespace: 'default',
      Datacenter: 'dc2',
      Subset: { Filter: 'Service.Meta.v == 1', OnlyPassing: true },
      MeshGateway: {},
    });
    const old = await chainOf('old');
    expect(old.StartNode).to.equal('resolver:v2.Web.default.default.dc9');
    expect(old.Nodes[old.StartNode].Resolver.Failover.Targets).to.deep.equal([
      'Web.default.default.external.east',
    ]);
    expect(old.Targets['Web.default.default.external.east']).to.include({
      Peer: 'east',
      Datacenter: '',
    });
  });

  it('shows the mode of mesh gateways, of the service or of all', async () => {
    await put({ Kind: 'proxy-defaults', Name: 'global', MeshGateway: { Mode: 'remote' } });
    const target = 'web.default.default.dc1';
    expect((await chainOf('web')).Targets[target].MeshGateway).to.deep.equal({ Mode: 'remote' });
    await put({ ...http('web'), MeshGateway: { Mode: 'local' } });
    expect((await chainOf('web')).Targets[target].MeshGateway).to.deep.equal({ Mode: 'local' });
  });

  it('reaches a service outside the mesh without a gateway', async () => {
    await put({ Kind: 'proxy-defaults', Name: 'global', MeshGateway: { Mode: 'remote' } });
    const external = { ...http('web'), ExternalSNI: 'web.example', MeshGateway: { Mode: 'local' } };
    await put(external);
    expect((await chainOf('web')).Targets['web.default.default.dc1'].MeshGateway).to.deep.equal({});
  });

  it('has no target that fails over to itself', async () => {
    const failoverOf = async (name: string) => {
      const { Nodes, StartNode } = await chainOf(name);
      return Nodes[StartNode].Resolver.Failover;
    };
    await put(resolver('web', { Failover: { '*': { Datacenters: ['dc1', 'dc2'] } } }));
    expect(await failoverOf('web')).to.deep.equal({ Targets: ['web.default.default.dc2'] });
    await put(resolver('web', { Failover: { '*': { Datacenters: ['dc1'] } } }));
    expect(await failoverOf('web')).to.equal(undefined);
    // by the redirect of another service
    await put(resolver('back', { Redirect: { Service: 'web' } }));
    await put(resolver('web', { Failover: { '*': { Service: 'back' } } }));
    expect(await failoverOf('web')).to.equal(undefined);
  });

  it('counts a resolver as the default if it says nothing of requests', async () => {
    const isDefault = async (more: object): Promise<boolean> => {
      await put(resolver('web', more));
      const { Nodes, StartNode } = await chainOf('web');
      return Nodes[StartNode].Resolver.Default;
    };
    expect(await isDefault({})).to.equal(true);
    expect(await isDefault({ Meta: { team: 'a' } })).to.equal(true);
    for (const more of [
      { ConnectTimeout: '1s' },
      { RequestTimeout: '1s' },
      { Subsets: { v1: {} } },
      { LoadBalancer: { Policy: 'random' } },
      { Failover: { '*': { Datacenters: ['dc2'] } } },
    ])
      expect(await isDefault(more), JSON.stringify(more)).to.equal(false);
  });

  it('belongs to a namespace', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    await client.must('PUT /config?ns=team', resolver('web', { ConnectTimeout: '1s' }));
    const { Namespace, StartNode, Nodes } = await chainOf('web?ns=team');
    expect([Namespace, StartNode]).to.deep.equal(['team', 'resolver:web.team.default.dc1']);
    expect(Nodes[StartNode].Resolver.ConnectTimeout).to.equal('1s');
    expect((await chainOf('web')).Nodes).not.to.deep.include(Nodes);
  });

  it('needs service:read on the service, in the spelling of its entries too', async () => {
    const secret = await client.secretWith('service "web" { policy = "read" }');
    const status = async (path: string, token: string) =>
      (await client.ask(`GET /discovery-chain/${path}`, undefined, token)).status;
    expect(await status('web', secret)).to.equal(200);
    expect(await status('db', secret)).to.equal(403);
    expect(await status('web?ns=team', secret)).to.equal(403);
    expect(await status('web', '')).to.equal(403);
    await put(resolver('WEB', {}));
    const refused = await client.ask('GET /discovery-chain/web', undefined, secret);
    expect(refused.status).to.equal(403);
    expect(refused.text).to.contain('\'service:read\' on \\"web\\" in the spelling of');
    expect(refused.text).not.to.contain('WEB');
  });

  it('has every mode of reads, and refuses what it does not know', async () => {
    for (const mode of ['stale', 'consistent', 'max_stale=5s']) {
      expect(await chainOf(`web?${mode}`)).to.have.property('StartNode');
    }
    const refused = async (method: string, path: string) => {
      const body = method === 'POST' ? { OverrideProtocol: 'http' } : undefined;
      const answer = await client.ask(`${method} /discovery-chain/${path}`, body);
      expect(answer.headers['content-type']).to.equal('application/problem+json');
      return answer.status;
    };
    expect(await refused('GET', 'web?compile-dc=dc2')).to.equal(400);
    expect(await refused('GET', '')).to.equal(400);
    expect(await refused('POST', 'web')).to.equal(405);
    expect(await chainOf('a/b%20c')).to.include({ ServiceName: 'a/b c' });
  });

  it('is a 409 with the sentence where it cannot be compiled', async () => {
    await put(http('web'), splitter('web', [{ Weight: 100 }]));
    const key = ['config', 'default', 'service-defaults', 'web'].join('\u0000');
    const damaged = solo.store.get(key)!.replace('"Protocol":"http"', '"Protocol":"tcp"');
    solo.store.commit([[key, damaged]]);
    const { status, text } = await client.ask('GET /discovery-chain/web');
    expect(status).to.equal(409);
    expect(JSON.parse(text).detail).to.equal(
      'discovery chain "web" uses a protocol "tcp" ' +
        'that does not permit advanced routing or splitting behavior',
    );
  });

  describe('a blocking query of one', () => {
    /** Holds a read at its present index, makes changes, and returns what it answers then. */
    const across = async (changes: (() => Promise<unknown>)[]): Promise<(string | undefined)[]> => {
      const before = await client.answerTo('GET /discovery-chain/web');
      const path = `/discovery-chain/web?index=${before.index}&wait=60s`;
      let woken: string | undefined;
      const held = client.ask(`GET ${path}`).then(({ text, index }) => {
        expect(index).to.be.greaterThan(before.index);
        woken = text;
      });
      // A read that was woken for nothing rests, on no keys, before it waits for a change again.
      let isResting = false;
      const watch = solo.watches.watch.bind(solo.watches);
      solo.watches.watch = (keys, ...rest) => {
        isResting = keys.length === 0;
        return watch(keys, ...rest);
      };
      const settled = async (): Promise<void> => {
        while (woken === undefined && (isResting || solo.watches.size === 0)) await nextTurn();
      };
      const seen: (string | undefined)[] = [];
      for (const change of changes) {
        await settled();
        await change();
        await settled();
        seen.push(woken && JSON.parse(woken).Chain.StartNode);
      }
      await held;
      return seen;
    };

    it('wakes when the chain changes, and not for what leaves it as it is', async () => {
      await put(http('web'), http('db'), resolver('web', { Redirect: { Service: 'db' } }));
      const same = { ...resolver('web', { Redirect: { Service: 'db' } }), Meta: { a: 'b' } };
      const remove = (path: string) => client.must(`DELETE /config/${path}`);
      expect(
        await across([
          () => put(http('other')),
          () => put(same),
          () => put({ ...http('db'), MaxInboundConnections: 7 }),
          () => remove('service-resolver/web'),
        ]),
      ).to.deep.equal([undefined, undefined, undefined, 'resolver:web.default.default.dc1']);
    });

    it('wakes for an entry that was not there', async () => {
      expect(await across([() => put(http('web'))])).to.have.lengthOf(1);
      const router = { Kind: 'service-router', Name: 'web', Routes: [] };
      expect(await across([() => put(router)])).to.deep.equal(['router:web']);
    });
  });
});
