/** Who caused a command, when and why. */
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { reasonOf } from '../../src/http/request/parameters.js';
import type { Write } from '../../src/service/common/writing.js';
import type { Author } from '../../src/state/author.js';
import { SERVER } from '../../src/state/author.js';
import { stamped } from '../../src/state/stamp.js';
import type { Command } from '../../src/state/types.js';
import type { Answer } from '../support/client.js';
import { SoloClient } from './client.js';
import { MANAGEMENT_SECRET, MANAGER, NOBODY, Solo } from './solo.js';

const REAP = { type: 'token.reap', v: 1, nowMs: 0, max: 1 } as Command;
const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;

/** A client of a node at level 3, and the commands that it proposes. */
class Watched {
  readonly commands: Command[] = [];
  readonly solo: Solo;
  client!: SoloClient;

  constructor(solo = new Solo()) {
    this.solo = solo;
    const { write } = solo.node;
    solo.node.write = (request) => {
      this.commands.push(request.command);
      return write(request);
    };
  }
  static async open(level = 3): Promise<Watched> {
    const watched = new Watched();
    if (level === 3) watched.solo.must(LEVEL);
    watched.client = await SoloClient.open([], watched.solo);
    return watched;
  }
  get last(): Command {
    return this.commands.at(-1)!;
  }
  with(headers: Record<string, string>, token?: string): Promise<Answer> {
    return this.client.ask('PUT /acl/role', { Name: 'r' }, token, { headers });
  }
}

describe('a reason that is sent as UTF-8', () => {
  it('is read as such', () => {
    const header = Buffer.from('später %2').toString('latin1');
    expect(() => reasonOf(header, 'R')).to.throw(ApiError, 'Invalid header "R"');
    expect(reasonOf(header.slice(0, 7), 'R')).to.equal('später');
  });
});

describe('the author of a command', () => {
  let watched: Watched;
  beforeEach(async () => {
    watched = await Watched.open();
  });
  afterEach(() => watched.client.close());

  it('is the token of the request, as it is called then', async () => {
    const { client } = watched;
    const long = 'é'.repeat(200);
    const made = { Description: long, Policies: [{ Name: 'global-management' }] };
    const { AccessorID, SecretID } = await client.must('PUT /acl/token', made);
    expect(watched.last.author?.Description).to.equal('Initial Management Token');
    await client.must('PUT /acl/role', { Name: 'a' }, SecretID);
    expect(watched.last.author).to.deep.equal({ AccessorID, Description: 'é'.repeat(128) });
    await client.must(`PUT /acl/token/${AccessorID}`, { ...made, Description: 'ci' });
    await client.must('PUT /acl/role', { Name: 'b' }, SecretID);
    expect(watched.last.author).to.deep.equal({ AccessorID, Description: 'ci' });
    expect(Date.parse(watched.last.time!)).to.be.closeTo(Date.now(), 60_000);
    expect(watched.last.time).to.match(/\.\d{3}Z$/);
    expect(watched.last).to.not.have.property('reason');
  });

  it('is the anonymous token without one, and before a bootstrap', async () => {
    const { client } = watched;
    const [{ ID }] = (await client.must('GET /acl/policies')).filter(
      ({ Name }: { Name: string }) => Name === 'global-management',
    );
    const anonymous = '00000000-0000-0000-0000-000000000002';
    const body = { Description: 'Anonymous Token', Policies: [{ ID }] };
    await client.must(`PUT /acl/token/${anonymous}`, body);
    await client.must('PUT /acl/role', { Name: 'a' }, '');
    expect(watched.last.author).to.deep.equal({
      AccessorID: anonymous,
      Description: 'Anonymous Token',
    });
    const secret = '99999999-9999-4999-8999-999999999999';
    expect((await client.ask('PUT /acl/bootstrap', undefined, secret)).status).to.equal(403);
    expect(watched.last.type).to.equal('bootstrap');
    expect(watched.last.author?.AccessorID).to.equal(anonymous);
  });

  it('is left out below level 3, and so is the reason', async () => {
    const older = await Watched.open(2);
    const { status } = await older.with({ 'X-Service-Reason': 'PAY-12' });
    expect(status).to.equal(200);
    expect(Object.keys(older.last)).to.not.include.members(['author', 'time', 'reason']);
    await older.client.close();
  });

  const reasons: [what: string, header: string, reason: string][] = [
    ['plain text', 'PAY-12: rotate', 'PAY-12: rotate'],
    ['percent-encoded UTF-8', 'tidy%20%E2%80%93%20up', 'tidy – up'],
    ['as long as it may be', 'x'.repeat(512), 'x'.repeat(512)],
  ];
  for (const [what, header, reason] of reasons) {
    it(`has a reason that is ${what}`, async () => {
      expect((await watched.with({ 'X-Consul-Reason': header })).status).to.equal(200);
      expect(watched.last.reason).to.equal(reason);
    });
  }

  for (const header of [
    'x'.repeat(513),
    '%0A',
    'a%00',
    '%',
    '%ff',
    '%C3',
    '%E2%80%93'.repeat(171),
  ]) {
    it(`has no reason like ${header.slice(0, 12)}`, async () => {
      for (const name of ['X-Service-Reason', 'X-Consul-Reason']) {
        const { status, text } = await watched.with({ [name]: header });
        expect([status, text]).to.deep.equal([
          400,
          `Invalid header "${name}": expected at most 512 bytes of ` +
            'percent-encoded UTF-8, without control characters',
        ]);
      }
      expect(watched.commands).to.deep.equal([]);
    });
  }

  it('is checked by the leader', async () => {
    const { solo } = watched;
    const command = { type: 'role.delete', v: 1, ns: 'default', id: 'x' } as Command;
    const own = await authorOf(watched);
    const by = (author: unknown, more: object = {}) => {
      const whole = { ...stamped(command, { author: author as Author, nowMs: 0 }), ...more };
      return solo.gate(solo.store, MANAGER.tokenKey, whole)?.message;
    };
    const wrong = 'Permission denied: the author of the command is not who sent the request';
    expect(by(own)).to.equal(undefined);
    expect(by({ ...own, Description: 'older' })).to.equal(undefined);
    expect(by(SERVER)).to.equal(wrong);
    expect(by({ ...own, AccessorID: '00000000-0000-0000-0000-000000000002' })).to.equal(wrong);
    const Identity = { AuthMethod: 'm', Namespace: 'default', Subject: 'root' };
    expect(by({ ...own, Identity })).to.equal(wrong);
    expect(by({ ...own, Description: 'x'.repeat(300) })).to.equal(wrong);
    expect(by({ ...own, Description: 5 })).to.equal(wrong);
    expect(by(own, { time: 'now' })).to.equal(wrong);
    expect(by(own, { reason: 'a\nb' })).to.equal(wrong);
    expect(by(undefined, { author: undefined, time: undefined })).to.equal(undefined);
    expect(by(undefined, { author: undefined })).to.equal(wrong);
  });

  it('is not checked of what the server does itself', () => {
    const { solo } = watched;
    expect(solo.gate(solo.store, 'internal', stamped(REAP, { author: SERVER, nowMs: 0 }))).to.equal(
      undefined,
    );
  });

  it('is looked up after a barrier, if this node does not know the token yet', async () => {
    const { solo } = watched;
    const before = solo.barriers;
    const logout = { type: 'token.logout', v: 1, secretKey: 'x' } as Command;
    const write: Write = { caller: { tokenKey: 'x' }, ns: 'default', timeoutMs: 1000 };
    const error = await solo.service.write(write, logout).catch((why: unknown) => why);
    expect((error as ApiError).refusal.code).to.equal('acl_not_found');
    expect(solo.barriers).to.equal(before + 1);
    await solo.service.write({ ...write, caller: NOBODY }, REAP).catch(() => {});
    expect(solo.barriers).to.equal(before + 1);
  });
});

async function authorOf({ client, commands }: Watched): Promise<Author> {
  await client.must('PUT /acl/role', { Name: 'probe' }, MANAGEMENT_SECRET);
  return commands.at(-1)!.author!;
}
