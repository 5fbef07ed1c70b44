/**
 * Decisions for other programs: a node beside Consul, OPA and OpenFGA, with the same rights and
 * questions. Decisions in the process of the caller are measured elsewhere.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import {
  BATCH,
  conclave,
  type Decider,
  IDS,
  type Issuer,
  idOf,
  ROLES,
  RULES,
  range,
  TOKENS,
} from './deciders.js';
import { PEERS, withPeer } from './decision-peers.js';
import { type Ask, askOnce, Line } from './line.js';
import { load, spreadOf } from './load.js';
import { until } from './processes.js';
import { figure, LOAD_COLUMNS, loadRow, row, title } from './report.js';
import { cpuPerOp, putEntry, withCluster } from './setting.js';

const CONNECTIONS = 64;
/** More JWTs than a server remembers, so that none is known when its turn comes again. */
const JWTS = 20_000;
/** Tokens that are asked about for the first time, one request each. */
const FIRST = 2_000;
const TEAM = 'shop';
/** Limits on JWTs are about strangers; here one client sends them all. */
const SETTINGS = { limits: { jwtChecksPerAddress: 0, jwtChecksPerMethod: 0 } };

/** Programs of others by {@link PEERS}; those that are absent are not measured. */
export type Programs = Partial<Record<keyof typeof PEERS, string>>;

/** Measures how many questions servers decide, one after the other. */
export async function measureDecisions(seconds: number, programs: Programs): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const issuer: Issuer = { key, team: TEAM };
  const jwts = await Promise.all(range(JWTS, (n) => jwtOf(privateKey, n)));
  title(
    `Decisions of one server, ${RULES} prefix rules of the token, ${figure(TOKENS)} tokens, ` +
      `${figure(ROLES)} roles, ${CONNECTIONS} connections`,
    LOAD_COLUMNS,
  );
  const memory: string[][] = [];
  const measured = async (decider: Decider) => {
    const cells = await filled(decider);
    await rates(decider, jwts, seconds);
    memory.push([...cells, await revoked(decider)]);
  };
  await withCluster(
    1,
    async (setting) => {
      await setting.ask(putEntry('entry', 0));
      const { targets } = setting;
      const next = (): Ask => ({ method: 'GET', path: '/v1/config/service-defaults/entry' });
      const plan = { targets, connections: CONNECTIONS, seconds, next };
      await measured(conclave(setting, issuer));
      loadRow('Conclave: read of one entry', await cpuPerOp(setting, () => load(plan)));
    },
    { settings: SETTINGS },
  );
  for (const name of Object.keys(PEERS) as (keyof typeof PEERS)[]) {
    const program = programs[name];
    if (program === undefined) row([`${name}: not measured`]);
    else await withPeer(PEERS[name], program, issuer, measured);
  }
  title('Memory, the first decision about a token, and until it is denied', [
    ...['server', 'MB before the rights', 'MB with them', 'first decision, p50 ms', 'p99 ms'],
    ...['CPU µs', 'denied after its revocation, ms'],
  ]);
  for (const cells of memory) row(cells);
}

/** Gives a server the rights; returns a row about memory and first decisions. */
async function filled(decider: Decider): Promise<string[]> {
  const { name, version, target, modes } = decider;
  const before = await decider.residentMb();
  await decider.fill();
  const after = await decider.residentMb();
  const line = new Line(target);
  const times: number[] = [];
  const { cpuUs } = await cpuPerOp(decider, async () => {
    for (let token = TOKENS - FIRST; token < TOKENS; token += 1) {
      const ask = decider.ask(modes[0]!, token, [idOf(token, 0)]);
      const begin = performance.now();
      const { status } = await line.ask(ask);
      times.push(performance.now() - begin);
      if (status !== 200) throw new Error(`${name}: ${status}`);
    }
    return { answered: FIRST };
  });
  line.close();
  const { p50Ms, p99Ms } = spreadOf(times);
  return [`${name}, ${version}`, ...[before, after, p50Ms, p99Ms, cpuUs].map(figure)];
}

async function rates(decider: Decider, jwts: readonly string[], seconds: number): Promise<void> {
  const { name, target, askJwt } = decider;
  const measure = async (what: string, asks: readonly Ask[]) => {
    const next = (connection: number, n: number) =>
      asks[(n * CONNECTIONS + connection) % asks.length]!;
    const plan = { targets: [target], connections: CONNECTIONS, seconds, next };
    loadRow(`${name}: ${what}`, await cpuPerOp(decider, () => load(plan)));
  };
  const ids = range(IDS, (n) => idOf(0, n));
  const batches = ids.map((_, n) => range(BATCH, (at) => idOf(0, n + at)));
  for (const mode of decider.modes) {
    const ones = ids.map((id) => decider.ask(mode, 0, [id]));
    const many = batches.map((batch) => decider.ask(mode, 0, batch));
    await check(decider, ones[0]!, 1);
    await check(decider, many[0]!, BATCH);
    await check(decider, decider.ask(mode, 0, [idOf(1, 0)]), 0);
    await measure(`one question, ${mode}`, ones);
    await measure(`${BATCH} questions, ${mode}`, many);
  }
  if (askJwt === undefined) return row([`${name}: takes no JWT`]);
  const asks = jwts.map((jwt, n) => askJwt(jwt, ids[n % IDS]!));
  await check(decider, asks[0]!, 1);
  await measure('JWT, known', asks.slice(0, CONNECTIONS));
  await measure('JWT, not known', asks);
}

/** Returns how long a token is still allowed after its revocation is acknowledged. */
async function revoked({ modes, target, ask, revoke }: Decider): Promise<string> {
  if (revoke === undefined) return 'see below';
  const question = ask(modes[0]!, 0, [idOf(0, 0)]);
  await askOnce(target, question);
  await askOnce(target, revoke(0));
  const begin = performance.now();
  const line = new Line(target);
  await until('it is denied', async () => !/\btrue\b/.test(`${(await line.ask(question)).body}`));
  line.close();
  return figure(performance.now() - begin);
}

/** Throws unless the answer allows so many questions. */
async function check({ name, target }: Decider, ask: Ask, allowed: number): Promise<void> {
  const { body } = await askOnce(target, ask);
  // between chunks stand their lengths
  const text = body.toString().replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
  const found = text.match(/\btrue\b/g)?.length ?? 0;
  if (found !== allowed) throw new Error(`${name} allows ${found} of ${allowed}: ${text}`);
}

const jwtOf = (key: KeyObject, n: number): Promise<string> =>
  new SignJWT({ team: TEAM })
    .setProtectedHeader({ alg: 'ES256' })
    .setSubject(`user-${n}`)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(key);
