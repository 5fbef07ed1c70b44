/** Many roles and tokens, and logins through many binding rules, on one node. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { fill, load } from './load.js';
import { loopDelay } from './loop-delay.js';
import { figure, LOAD_COLUMNS, loadRow, row, title } from './report.js';
import { putEntry, type Setting, withCluster } from './setting.js';

const POLICIES = 100;
/** Tokens that are used for the first time, one request each. */
const FIRST_USES = 5000;

export function measureTokens(options: {
  readonly roles: number;
  readonly tokens: number;
  readonly seconds: number;
}): Promise<void> {
  return withCluster(1, async (setting) => {
    const { targets } = setting;
    const counts = `${figure(options.roles)} roles and ${figure(options.tokens)} tokens`;
    title(`One node with ${counts}`, ['what', 'figure']);
    for (let n = 0; n < POLICIES; n++) {
      const Rules = `service_prefix "team-${n}-" { policy = "write" } service_prefix "" { policy = "read" }`;
      await setting.put('/v1/acl/policy', { Name: `policy-${n}`, Rules });
    }
    await fill(targets, 32, options.roles, (n) => ({
      method: 'PUT',
      path: '/v1/acl/role',
      body: JSON.stringify({
        Name: `role-${n}`,
        Policies: [{ Name: `policy-${n % POLICIES}` }],
        ServiceIdentities: [{ ServiceName: `service-${n}` }],
      }),
    }));
    const secrets = Array.from({ length: options.tokens }, () => randomUUID());
    const made = await fill(targets, 32, options.tokens, (n) => ({
      method: 'PUT',
      path: '/v1/acl/token',
      body: JSON.stringify({
        SecretID: secrets[n],
        Roles: [{ Name: `role-${n % options.roles}` }],
        Policies: [{ Name: `policy-${n % POLICIES}` }],
      }),
    }));
    row(['tokens made per second, 32 connections', figure(made.perSec)]);
    row(['resident MB', figure(await setting.residentMb())]);
    for (const what of ['roles', 'tokens']) await listRow(setting, what);
    await authorisations(setting, secrets, options.seconds);
  });
}

async function listRow(setting: Setting, what: string): Promise<void> {
  const before = await setting.loopReading();
  const begin = performance.now();
  const { body } = await setting.ask({ method: 'GET', path: `/v1/acl/${what}` });
  const ms = performance.now() - begin;
  const { maxMs } = loopDelay(before, await setting.loopReading());
  const size = `${figure(body.length / 2 ** 20)} MB`;
  row([
    `list of all ${what}`,
    `${figure(ms)} ms, ${size}, event loop held ${figure(maxMs)} ms at most`,
  ]);
}

/** The same read with tokens that are new to the node, with the same ones again, and with one. */
async function authorisations(
  setting: Setting,
  secrets: readonly string[],
  seconds: number,
): Promise<void> {
  const path = '/v1/config/service-defaults/entry?stale';
  const { targets } = setting;
  const use = (count: number) => async () => {
    const begin = performance.now();
    await fill(targets, 1, count, (n) => ({ method: 'GET', path, token: secrets[n]! }));
    return { answered: count, us: ((performance.now() - begin) * 1000) / count };
  };
  await setting.ask(putEntry('entry', 0));
  const count = Math.min(FIRST_USES, secrets.length - 1000);
  await load({ targets, connections: 1, seconds, next: () => ({ method: 'GET', path }) });
  const first = await setting.cpuPerOp(use(count));
  const again = await setting.cpuPerOp(use(count));
  const words = ({ us, cpuUs }: typeof first): string =>
    `${figure(us)} µs, of which ${figure(cpuUs)} µs CPU of the node`;
  row(['a read with a token that is used for the first time', words(first)]);
  row(['the same again', words(again)]);
}

/** Only the logins of one client are measured. */
const NO_LOGIN_LIMITS = {
  limits: { loginsPerAddress: 0, loginsPerMethod: 0, loginsPerIdentity: 0 },
};

export function measureLogins(options: {
  readonly rules: number;
  readonly seconds: number;
}): Promise<void> {
  return withCluster(
    1,
    async (setting) => {
      title(`Logins through ${figure(options.rules)} binding rules of one method`, LOAD_COLUMNS);
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const key = publicKey.export({ type: 'spki', format: 'pem' });
      const Config = { JWTValidationPubKeys: [key], ClaimMappings: { team: 'team', user: 'user' } };
      await setting.put('/v1/acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
      await fill(setting.targets, 16, options.rules, (n) => ({
        method: 'PUT',
        path: '/v1/acl/binding-rule',
        body: JSON.stringify({
          AuthMethod: 'jwt',
          BindType: 'service',
          BindName: 'web-${value.user}',
          Selector: `value.team == "team-${n}"`,
        }),
      }));
      const BearerToken = await new SignJWT({ team: 'team-1', user: 'alice' })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey);
      const body = JSON.stringify({ AuthMethod: 'jwt', BearerToken });
      for (const connections of [1, 16]) {
        const { targets } = setting;
        const next = () => ({ method: 'POST', path: '/v1/acl/login', body }) as const;
        const result = await setting.cpuPerOp(() =>
          load({ targets, connections, seconds: options.seconds, next }),
        );
        loadRow(`login, ${connections} connections`, result);
      }
    },
    { settings: NO_LOGIN_LIMITS },
  );
}
