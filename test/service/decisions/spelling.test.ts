/** A request is answered alike however its JSON is written. */
import { expect } from 'chai';
import fc from 'fast-check';
import { send } from '../../support/client.js';
import { Decider } from './decider.js';

const type = fc.constantFrom('orders', 'app:orders', 'app:', 'key', 'acl', 'namespace', '', 'ü');
const entity = fc.record(
  { type, id: fc.constantFrom('', '17', 'orders/17', '<&>', 'a"b\\', 'ü'.repeat(2000)) },
  { requiredKeys: ['type'] },
);
const subject = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: 'token', id: 'self' }) },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'token' }, { type: 'robot', id: 'r2' }) },
  entity,
);
const name = fc.constantFrom('approve', 'read', 'a/b%', '', 'x'.repeat(129));
const members = { subject, action: fc.record({ name }), resource: entity };
const item = fc.record(members, { requiredKeys: [] });
const request = fc.record(
  { ...members, evaluations: fc.array(item, { maxLength: 8 }) },
  { requiredKeys: ['subject', 'action'] },
);

/** What an answer says, but for the ids of decisions. */
const said = ({ status, text }: { status: number; text: string }): string =>
  `${status} ${text.replaceAll(/"decision_id":"[^"]*",/g, '')}`;

describe('a request for decisions', () => {
  let decider: Decider;
  let token: string;
  before(async () => {
    decider = await Decider.open();
    const rules =
      'key_prefix "orders/" { policy = "read" } key "orders/approve/17" { policy = "deny" }';
    token = (await decider.token(rules)).SecretID;
  });
  after(() => decider.close());

  it('is answered alike in one line, in several, and with escapes', async () => {
    const seen = new Set<string>();
    const run = async (path: string, body: object): Promise<void> => {
      const line = JSON.stringify(body);
      const ask = (text: string) =>
        send(decider.client.url, `POST /access/v1/${path}`, {
          token,
          body: Buffer.from(text),
          headers: { 'content-type': 'application/json' },
        });
      const answer = said(await ask(line));
      expect(said(await ask(JSON.stringify(body, null, 1))), line).to.equal(answer);
      expect(said(await ask(line.replaceAll('"type"', '"t\\u0079pe"'))), line).to.equal(answer);
      expect(said(await ask(line.replaceAll('":', '" : '))), line).to.equal(answer);
      for (const [, code] of answer.matchAll(/"code":"(\w+)"/g)) seen.add(code!);
    };
    const path = fc.constantFrom('evaluation', 'evaluations');
    await fc.assert(fc.asyncProperty(path, request, run), { numRuns: 300 });
    for (const code of ['allowed', 'denied', 'unknown_subject', 'unknown_action', 'invalid'])
      expect(seen).to.include(code);
  }).timeout(60_000);
});
