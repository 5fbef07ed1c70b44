/**
 * Plays every recorded case against real clusters of three nodes; see README.md beside this file.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OPENAPI } from '../../src/api/documents.js';
import { Checker, type Exchange } from '../openapi/checker.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { type Case, play, type Target } from './player.js';

const FOLDER = join('test', 'conformance');
const readData = <T>(name: string): T => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as T;
const mustPass = new Set(readData<string[]>('must-pass.json'));
/** Cases that our decisions override, each with its reason. Those that pass belong on the list. */
const overruled = new Map(Object.entries(readData<Record<string, string>>('overruled.json')));
/** The number of independent cases that are played at a time. */
const TOGETHER = 6;

interface Recorded {
  id: string;
  case: Case;
}
const recorded: Recorded[] = readdirSync(join(FOLDER, 'cases'))
  .filter((name) => name.endsWith('.json'))
  .sort()
  .flatMap((file) =>
    (JSON.parse(readFileSync(join(FOLDER, 'cases', file), 'utf8')) as Case[]).map((one) => ({
      id: `${file.replace('.json', '')} · ${one.name}`,
      case: one,
    })),
  );
const tagged = (one: Recorded, ...tags: string[]): boolean =>
  tags.some((tag) => one.case.tags?.includes(tag));

async function inDeployment<T>(
  nodes: number,
  options: object,
  work: (cluster: RealCluster) => Promise<T>,
) {
  // One client causes all refusals, and must not be delayed by them.
  const settings = { limits: { refusalsPerAddress: 0 } };
  const cluster = await RealCluster.open(nodes, { settings, ...options });
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

const outcomes = new Map<string, string[]>();
/** Every request with its answer. They are checked at the end: compiling schemas takes seconds. */
const exchanges: Exchange[] = [];
const observe = (exchange: Exchange): void => {
  exchanges.push(exchange);
};
let restored = '';
async function record(one: Recorded, target: Target): Promise<void> {
  const found = await play(one.case, target).catch((error: Error) => [String(error.message)]);
  outcomes.set(one.id, found);
}

async function playAll(cluster: RealCluster): Promise<void> {
  const all: Target = { urls: cluster.urls, token: cluster.token, observe };
  const one: Target = { ...all, urls: cluster.urls.slice(0, 1) };
  // The last one compares what one agent reports about itself in two requests.
  const targetOf = (item: Recorded): Target =>
    tagged(item, 'stale') || item.case.name.startsWith('agent self') ? one : all;
  const usual = recorded.filter((item) => !tagged(item, 'destructive'));
  const alone = usual.filter((item) => tagged(item, 'quiet', 'singleton'));
  const together = usual.filter((item) => !alone.includes(item));
  const lanes = Array.from({ length: TOGETHER }, async () => {
    for (let item = together.shift(); item !== undefined; item = together.shift())
      await record(item, targetOf(item));
  });
  await Promise.all(lanes);
  for (const item of alone) await record(item, targetOf(item));
  restored = await saveAndRestore(cluster);
}

/** Saves everything that the cases left behind, and restores it in the same cluster. */
async function saveAndRestore({ urls, token }: RealCluster): Promise<string> {
  const archive = await send(urls[0]!, 'GET /v1/snapshot', { token });
  const answer = await send(urls[1]!, 'PUT /v1/snapshot', { token, body: archive.bytes });
  return `${archive.status} ${answer.status} ${answer.text}`;
}

/** On a fresh single server, in order: the first case bootstraps it with the others' token. */
async function playDestructive(cluster: RealCluster): Promise<void> {
  const target: Target = { urls: cluster.urls, token: randomUUID(), observe };
  for (const item of recorded.filter((one) => tagged(one, 'destructive')))
    await record(item, target);
}

describe('recorded behaviour', () => {
  before(async () => {
    await inDeployment(3, {}, playAll);
    await inDeployment(1, { token: '' }, playDestructive);
  });

  for (const { id } of recorded.filter((one) => mustPass.has(one.id)))
    it(id, () => expect(outcomes.get(id)?.join('\n    ')).to.equal(''));

  it('a snapshot of everything that the cases leave behind can be restored', () => {
    expect(restored).to.equal('200 200 ');
  });

  it('every request and answer is as the OpenAPI document says', () => {
    const checker = new Checker(JSON.parse(OPENAPI.text));
    const undeclared = exchanges.flatMap((exchange) => checker.differences(exchange));
    expect([...new Set(undeclared)].slice(0, 20).join('\n')).to.equal('');
    expect(checker.seen.size).to.be.greaterThan(50);
  });

  it('every other case is overridden, and differs', () => {
    const others = recorded.map(({ id }) => id).filter((id) => !mustPass.has(id));
    const unexplained = others.filter((id) => !overruled.has(id));
    for (const id of unexplained)
      console.log(`      ${id}\n      ${outcomes.get(id)?.join('\n      ')}`);
    expect(unexplained, 'cases on neither list').to.deep.equal([]);
    const passing = others.filter((id) => outcomes.get(id)?.length === 0);
    expect(passing, 'overruled cases that pass belong in must-pass.json').to.deep.equal([]);
  });
});
