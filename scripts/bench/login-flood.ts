/** The cost of one bearer token that logs in as fast as it can, for other clients and the disks. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Ask } from './line.js';
import { type Load, load } from './load.js';
import { figure, row, title } from './report.js';
import { diskBytes, putEntry, type Setting, withCluster } from './setting.js';

const WARM_UP_SECONDS = 4;
const QUIET_SECONDS = 12;
const FLOOD_SECONDS = 60;
const FLOODERS = 6;
/** Connections of the other clients. */
const OTHERS = 8;

const READ: Ask = { method: 'GET', path: '/v1/config/service-defaults/w0' };
const OTHER_WORK: Readonly<Record<string, (connection: number, n: number) => Ask>> = {
  reads: () => READ,
  writes: (connection, n) => putEntry(`w${connection}`, n),
};

/** Writes use the disks as well, so the growth of the disks is reported beside reads. */
export function measureLoginFlood(): Promise<void> {
  return withCluster(3, async (setting) => {
    title('Logins with one bearer token, 60 pairs of Meta, as fast as 6 connections can', [
      ...['others', 'logins taken', 'logins refused', 'others per second', 'p50 ms', 'max ms'],
      ...['errors', 'MB on three disks before', 'after'],
    ]);
    const login = await loginOf(setting);
    await others(setting, 'writes', WARM_UP_SECONDS);
    for (const work of ['reads', 'writes']) {
      await floodRow(setting, `${work}, no logins`, () => others(setting, work, QUIET_SECONDS));
      const flood = load({
        ...{ targets: setting.targets, connections: FLOODERS, seconds: FLOOD_SECONDS },
        next: () => login,
      });
      await floodRow(setting, work, () => others(setting, work, FLOOD_SECONDS), flood);
    }
  });
}

/** The login of one subject through one binding rule. */
async function loginOf(setting: Setting): Promise<Ask> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'pem' });
  const Config = { JWTValidationPubKeys: [key], ClaimMappings: { sub: 'user' } };
  await setting.put('/v1/acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
  const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
  await setting.put('/v1/acl/binding-rule', rule);
  const BearerToken = await new SignJWT({ sub: 'alice' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
  const pairs = Array.from({ length: 60 }, (_, at) => [`key-${at}`, 'x'.repeat(50)]);
  const Meta = Object.fromEntries(pairs);
  const body = JSON.stringify({ AuthMethod: 'jwt', BearerToken, Meta });
  return { method: 'POST', path: '/v1/acl/login', body };
}

const others = ({ targets }: Setting, work: string, seconds: number): Promise<Load> =>
  load({ targets, connections: OTHERS, seconds, next: OTHER_WORK[work]! });

async function floodRow(
  setting: Setting,
  what: string,
  run: () => Promise<Load>,
  flood?: Promise<Load>,
): Promise<void> {
  const disks = async (): Promise<number> => {
    const bytes = await Promise.all(setting.cluster.nodes.map((node) => diskBytes(node)));
    return bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20;
  };
  const before = await disks();
  const { perSec, p50Ms, maxMs, errors } = await run();
  const { answered = 0, errors: refused = 0 } = (await flood) ?? {};
  const counts = [answered - refused, refused, perSec, p50Ms, maxMs, errors, before];
  row([what, ...[...counts, await disks()].map((value) => figure(value))]);
}
