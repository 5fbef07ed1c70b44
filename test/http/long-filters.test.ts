/** Filters of long lists are decided before anything is answered. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { decided } from '../../src/service/reads/list-rendering.js';
import { SoloClient } from '../service/client.js';

const ITEMS = 300;
/** Takes more work than a request has, in the description of each item. */
const COSTLY = encodeURIComponent('Description matches "(x+x+){3}y(a|b|c|d|e){20}z$"');

describe('http: a filter on a long list', function () {
  this.timeout(60_000);
  let client: SoloClient;
  before(async () => {
    client = await SoloClient.open();
    const { solo } = client;
    for (let i = 0; i < ITEMS; i += 1) {
      const Description = 'x'.repeat(4_000);
      const head = { v: 1, ns: 'default' } as const;
      const id = `22222222-aaaa-4aaa-8aaa-${String(i).padStart(12, '0')}`;
      const role = { Name: `r${i}`, Description };
      solo.must({ ...head, type: 'role.set', id, create: true, role } as never);
      const token = { Description, Policies: [], Roles: [], Local: false };
      const createTime = '2030-01-01T00:00:00Z';
      const own = { accessor: id, secret: id.replace(/^2/, '4'), createTime };
      solo.must({ ...head, type: 'token.create', ...own, token } as never);
    }
  });
  after(() => client.close());

  for (const path of ['/acl/roles', '/acl/tokens'])
    it(`of ${path} that takes too much work is a 400, as on a short one`, async () => {
      const { status, text } = await client.ask(`GET ${path}?filter=${COSTLY}`);
      expect(status).to.equal(400);
      expect(text).to.include('Invalid filter: it takes too much work on this list');
    });

  it('shows what it matches, whole or in pieces', async () => {
    const filter = (text: string) => encodeURIComponent(text);
    const few = await client.must(`GET /acl/roles?filter=${filter('Name matches "^r1?7$"')}`);
    expect(few.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['r17', 'r7']);
    const many = await client.must(`GET /acl/roles?filter=${filter('Name != "r7"')}`);
    expect(many).to.have.length(ITEMS - 1);
    expect(await client.must(`GET /acl/roles?filter=${filter('Name == "none"')}`)).to.deep.equal(
      [],
    );
    const tokens = await client.must(`GET /acl/tokens?filter=${filter('Description != ""')}`);
    expect(tokens.length).to.be.at.least(ITEMS);
  });

  it('may spend its whole budget each time that a blocking query looks', async () => {
    // two thirds of the budget for this list
    const filter = encodeURIComponent('Description matches "^(ab|x+)$"');
    const { before, woken } = await client.across(`/acl/roles?filter=${filter}`, () =>
      client.must('PUT /acl/role', { Name: 'another', Description: 'x' }),
    );
    expect(before.status, before.text.slice(0, 200)).to.equal(200);
    expect(woken?.status).to.equal(200);
    expect(woken?.body).to.have.length(ITEMS + 1);
  });

  it('is decided over many turns of the event loop', async () => {
    let judged = 0;
    const filter = () => () => {
      judged += 1;
      for (const until = performance.now() + 2; performance.now() < until; );
      return judged % 2 === 0;
    };
    const candidates = Array.from({ length: 40 }, (_, at) => `k${at}`);
    const plan = {
      candidates: () => candidates,
      render: (_: unknown, key: string) => key,
      filter,
    };
    const deciding = decided(client.solo.service, client.solo.store, plan);
    let inTurn = judged;
    for (let last = judged; judged < candidates.length; last = judged) {
      await nextTurn();
      inTurn = Math.max(inTurn, judged - last);
    }
    expect(inTurn).to.be.at.most(candidates.length / 4);
    const { candidates: shown } = await deciding;
    expect(shown).to.deep.equal(candidates.filter((_, at) => at % 2 === 1));
  });
});
