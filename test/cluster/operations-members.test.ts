import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import { send } from '../support/client.js';
import {
  addressesOf,
  admit,
  conclave,
  configOf,
  configure,
  Field,
  load,
  type Peer,
  peersOf,
  readiness,
  settingsOf,
  until,
} from './operator.js';

const logOf = async ({ logFile }: LocalNode): Promise<string> => readFileSync(logFile, 'utf8');
const voters = (names: string[]) => (peers: Peer[]) =>
  JSON.stringify(peers.map(({ Node, Voter }) => `${Node}${Voter}`).sort()) ===
  JSON.stringify(names.map((name) => `${name}true`));
const write = ({ token }: LocalCluster, { url }: LocalNode, Name: string) =>
  send(url, 'PUT /v1/config', {
    token,
    body: JSON.stringify({ Kind: 'service-defaults', Name }),
  });
const statusOfRead = async ({ token }: LocalCluster, { url }: LocalNode, Name: string, how = '') =>
  (await send(url, `GET /v1/config/service-defaults/${Name}${how}`, { token })).status;

describe('cluster members', () => {
  const field = new Field();
  afterEach(() => field.end());

  it('join and leave under load, the leader too; one with a wiped disk is refused', async () => {
    const cluster = await field.start(3);
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    const { token } = cluster;
    const idOf = async (name: string): Promise<string> =>
      (await peersOf(cluster, n1.url)).find(({ Node }) => Node === name)!.ID;
    const remove = async (id: string): Promise<number> =>
      (await send(n1.url, `DELETE /v1/operator/raft/peer?id=${id}`, { token })).status;

    const traffic = load({ urls: [n1.url, n2.url], token }, 4);
    const n4 = await field.joiner(cluster, 'n4');
    try {
      n4.start();
      await admit(cluster, n2.url, 'n4');
      await n4.ready();
      await until(() => peersOf(cluster, n1.url), voters(['n1', 'n2', 'n3', 'n4']));
      const id = await idOf('n3');
      const transfer = `/v1/operator/raft/transfer-leader?id=${id}`;
      expect((await send(n1.url, `POST ${transfer}`, { token })).status).to.equal(200);
      const leads = (peers: Peer[]): boolean => peers.some((peer) => peer.ID === id && peer.Leader);
      await until(() => peersOf(cluster, n1.url), leads);
      expect(await remove(id)).to.equal(200);
      await until(() => peersOf(cluster, n1.url), voters(['n1', 'n2', 'n4']));
    } finally {
      const { failures } = await traffic.stop();
      expect(failures).to.deep.equal([]);
    }
    const gone = await until(
      () => readiness(n3),
      ({ status }) => status === 503,
    );
    expect(gone.text).to.include('it was removed from the cluster');
    const refused = await send(n3.url, 'GET /v1/acl/roles', { token });
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, undefined]);
    const log = await logOf(n1);
    for (const what of [
      /n4 \(\S+\) at \S+ is now a member and is a learner, by entry \d+/,
      /n4 \(\S+\) votes now, by entry \d+/,
      /n3 \(\S+\) is no longer a member, by entry \d+/,
    ])
      expect(log).to.match(what);
    expect(await statusOfRead(cluster, n3, 'load-0', '?stale')).to.equal(503);

    await n2.kill('SIGKILL');
    rmSync(n2.entry.dataDir, { recursive: true });
    n2.start();
    await until(
      () => logOf(n2),
      (text) => text.includes('has a different data folder'),
    );
    expect((await readiness(n2)).status).to.equal(503);
    expect((await write(cluster, n1, 'without-n2')).status).to.equal(200);
    await n2.kill('SIGKILL');
    expect(await remove(await idOf('n2'))).to.equal(200);
    rmSync(n2.entry.dataDir, { recursive: true });
    const tokenFile = join(field.dir(), 'join-token');
    const made = await conclave(['join-token', '--url', n1.url], { CONCLAVE_TOKEN: token });
    expect(made.code, made.output).to.equal(0);
    expect(made.output).to.match(/for one server, until 20\d\d-/);
    writeFileSync(tokenFile, made.output.split('\n').find((line) => !line.includes(' '))!);
    const members = addressesOf({ nodes: [n1, n4] });
    configure(n2, { cluster: { join: members, joinTokenFile: tokenFile } });
    n2.start();
    await until(() => peersOf(cluster, n1.url), voters(['n1', 'n2', 'n4']));
    expect(await statusOfRead(cluster, n2, 'without-n2')).to.equal(200);
  });

  it('that join later refuse a member whose disk was wiped before they met', async () => {
    const cluster = await field.start(3);
    const [n1, , n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    await until(
      () => peersOf(cluster, n1.url),
      (peers) => peers.length === 3,
    );
    expect((await readiness(n3)).status).to.equal(200);
    await n3.kill('SIGKILL');
    rmSync(n3.entry.dataDir, { recursive: true });
    const n4 = await field.joiner(cluster, 'n4');
    // The same list on every node also holds the node itself.
    const addresses = [n4.entry.raft, n1.entry.raft];
    configure(n4, { cluster: { join: addresses } });
    n4.start();
    await admit(cluster, n1.url, 'n4');
    await n4.ready();
    await until(() => peersOf(cluster, n1.url), voters(['n1', 'n2', 'n3', 'n4']));
    const log = await logOf(n4);
    expect(log).to.include('the data folder is new: the node asks to join a cluster');
    expect(log).to.match(/learner in term \d+, leader (n[12] \()?/);
    expect(log).to.include('It is waiting for an operator');
    expect(log).not.to.match(/request to join cannot be sent/);
    n3.start();
    await until(
      () => logOf(n1),
      (text) => text.includes('has a different data folder'),
    );
    // n3 knows of no n4, so neither accepts the other. All that it tells n4 is what it may be.
    const told = /it does not know node \S+ as a member: it lags behind, its data folder was wiped/;
    await until(
      () => logOf(n4),
      (text) => told.test(text),
    );
    expect(await logOf(n4)).not.to.match(/n3 \(\S+\) at \S+ is reachable/);
  });

  it('need the shared key, which other users cannot read; others learn nothing', async () => {
    const cluster = await field.start(3);
    const [n1] = cluster.nodes as [LocalNode];
    expect((await write(cluster, n1, 'secret')).status).to.equal(200);
    const key = join(cluster.dir, 'shared.key');
    expect(statSync(key).mode & 0o777).to.equal(0o600);
    const evil = await field.joiner(cluster, 'evil');
    const { sharedKeyFile: _, ...raft } = settingsOf(evil)['raft'] as Record<string, unknown>;
    configure(evil, { raft: { ...raft, insecure: true } });
    evil.start();
    await until(
      () => logOf(evil),
      (text) => text.includes('the request to join cannot be sent'),
    );
    expect(await logOf(evil)).to.include('raft.insecure: every user of this machine can join');
    const refused = await Promise.all(cluster.nodes.map(logOf));
    expect(
      refused.some((text) => text.includes('a connection from an unauthenticated peer')),
    ).to.equal(true);
    const waiting = await send(n1.url, 'GET /v1/operator/raft/joining', { token: cluster.token });
    expect([waiting.status, waiting.text]).to.deep.equal([200, '[]\n']);
    expect(await peersOf(cluster, n1.url)).to.have.lengthOf(3);
    // With another key than the cluster's.
    await evil.kill('SIGKILL');
    const other = join(field.dir(), 'other.key');
    writeFileSync(other, 'x'.repeat(32));
    configure(evil, { raft: { ...raft, sharedKeyFile: other } });
    evil.start();
    await until(
      () => logOf(evil),
      (text) => text.split('the request to join cannot be sent').length > 4,
    );
    expect(await peersOf(cluster, n1.url)).to.have.lengthOf(3);
  });

  it('are not removed while too few would remain; a dead member goes first', async () => {
    const cluster = await field.start(3);
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    const { token } = cluster;
    const peers = await peersOf(cluster, n1.url);
    const remove = ({ name }: LocalNode) => {
      const { ID } = peers.find(({ Node }) => Node === name)!;
      return send(n1.url, `DELETE /v1/operator/raft/peer?id=${ID}`, { token });
    };
    await n2.kill('SIGKILL');
    // Longer than raft.electionMs.
    await sleep(1000);
    for (const node of [n1, n3]) {
      const refused = await until(
        () => remove(node),
        ({ status }) => status !== 503,
      );
      expect(refused.status, refused.text).to.equal(409);
      expect(refused.text).to.match(/Too few .*: 1 of 2 .*remove: n2 \(/);
    }
    expect((await write(cluster, n1, 'still')).status).to.equal(200);
    for (const node of [n2, n3]) expect((await remove(node)).status).to.equal(200);
    expect((await write(cluster, n1, 'alone')).status).to.equal(200);
  });

  it('recovered after losing the majority form a new cluster without the old members', async () => {
    const cluster = await field.start(3);
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    expect((await write(cluster, n1, 'before')).status).to.equal(200);
    await Promise.all([n2.kill('SIGKILL'), n3.kill('SIGKILL')]);
    await n1.kill('SIGTERM');
    const config = ['--config', configOf(n1)];
    const facts = JSON.parse((await conclave(['inspect', ...config, '-o', 'json'])).output);
    expect(facts.configuration.members).to.have.lengthOf(3);
    const recover = await conclave(['recover', ...config, '-o', 'json']);
    const recovered = JSON.parse(recover.output);
    expect(recovered.lastIndex).to.equal(facts.lastIndex);
    expect(recovered.clusterId).not.to.equal(facts.clusterId);

    n1.start();
    await n1.ready();
    expect(await statusOfRead(cluster, n1, 'before')).to.equal(200);
    n2.start();
    n3.start();
    await Promise.all([n2.ready(), n3.ready()]);
    await until(
      () => logOf(n1),
      (text) => text.includes('was refused'),
    );
    expect((await write(cluster, n1, 'new')).status).to.equal(200);
    expect((await write(cluster, n2, 'old')).status).to.equal(200);
    expect((await peersOf(cluster, n1.url)).map(({ Node }) => Node)).to.deep.equal(['n1']);
    const seen = (name: string) =>
      Promise.all([n1, n2, n3].map((node) => statusOfRead(cluster, node, name)));
    expect(await seen('new')).to.deep.equal([200, 404, 404]);
    expect(await seen('old')).to.deep.equal([404, 200, 200]);
  });
});
