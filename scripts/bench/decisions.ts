/** Decisions for other programs on one node, beside batch authorization and a read. */
import { measureGoDecisions } from './go-decisions.js';
import type { Ask } from './line.js';
import { load } from './load.js';
import { applicationRules } from './local-decisions.js';
import { LOAD_COLUMNS, loadRow, title } from './report.js';
import { putEntry, withCluster } from './setting.js';

const RULES = 100;
const CONNECTIONS = 64;
/** Questions of a batch: as many as batch authorization takes. */
const BATCH = 64;

const post = (path: string, token: string, body: unknown): Ask => ({
  method: 'POST',
  path,
  token,
  body: JSON.stringify(body),
});

/** Measures how many questions a node decides. */
export function measureDecisions(seconds: number): Promise<void> {
  return withCluster(1, async (setting) => {
    const { targets } = setting;
    title(`Decisions on one node, a policy of ${RULES} rules, ${CONNECTIONS} connections`, [
      ...LOAD_COLUMNS,
    ]);
    await setting.put('/v1/acl/policy', { Name: 'shop', Rules: applicationRules(RULES) });
    await setting.ask(putEntry('entry', 0));
    const made = await setting.put('/v1/acl/token', { Policies: [{ Name: 'shop' }] });
    const { SecretID: secret } = JSON.parse(made.body.toString()) as { SecretID: string };
    const asks = asksOf(secret);
    const run = (asked: Ask) =>
      setting.cpuPerOp(() =>
        load({ targets, connections: CONNECTIONS, seconds, next: () => asked }),
      );
    for (const { ask } of asks) await run(ask);
    for (const { what, ask } of asks) loadRow(what, await run(ask));
    measureGoDecisions();
  });
}

function asksOf(secret: string): readonly { readonly what: string; readonly ask: Ask }[] {
  const subject = { type: 'token', id: 'self' };
  const action = { name: 'approve' };
  const question = (n: number) => ({ resource: { type: 'orders', id: String(2 * (n % 50)) } });
  const one = { subject, action, ...question(7) };
  const batch = {
    subject,
    action,
    evaluations: Array.from({ length: BATCH }, (_, n) => question(n)),
  };
  const asked = (n: number) => ({
    Resource: 'key',
    Access: 'read',
    Segment: `orders/approve/${2 * (n % 50)}`,
  });
  const authorize = '/v1/internal/acl/authorize';
  const many = Array.from({ length: BATCH }, (_, n) => asked(n));
  return [
    {
      what: 'read of one entry',
      ask: { method: 'GET', path: '/v1/config/service-defaults/entry' },
    },
    { what: 'authorize, one question', ask: post(authorize, secret, [asked(7)]) },
    { what: `authorize, ${BATCH} questions`, ask: post(authorize, secret, many) },
    { what: 'evaluation, default', ask: post('/access/v1/evaluation', secret, one) },
    { what: 'evaluation, stale', ask: post('/access/v1/evaluation?stale', secret, one) },
    { what: 'evaluation, consistent', ask: post('/access/v1/evaluation?consistent', secret, one) },
    {
      what: 'evaluation, denied',
      ask: post('/access/v1/evaluation', secret, { ...one, resource: { type: 'orders', id: '1' } }),
    },
    { what: `evaluations, ${BATCH} questions`, ask: post('/access/v1/evaluations', secret, batch) },
  ];
}
