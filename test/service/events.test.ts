/** The event stream over HTTP, on a node without a cluster. */
import { expect } from 'chai';
import { refusal } from '../../src/base/errors.js';
import { eventRoutes } from '../../src/http/routes/events.js';
import { HISTORY_DEFAULTS } from '../../src/state/history/settings.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import type { EventReader, Frame } from '../support/event-reader.js';
import { SoloClient } from './client.js';
import { eventStage } from './event-stage.js';
import { partsOf } from './serve.js';
import { Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;

describe('the event stream', function () {
  this.timeout(60_000);
  const stage = eventStage();
  const { must, ask, open, index } = stage;
  let key: Signer;
  before(async () => {
    key = await signer('EdDSA');
  });
  const policy = (Name: string, more: object = {}) => must('PUT /acl/policy', { Name, ...more });
  /** What a frame is about, in short. */
  const short = ({ id, data }: Frame): string =>
    `${id}: ${data.Events.map(({ Type, Name }) => `${Type} ${Name}`).join(', ')}`;
  const refused = async (query: string, headers: Record<string, string> = {}): Promise<string> => {
    const { status, body } = await ask(`GET /events${query}`, undefined, undefined, {
      headers,
    });
    return `${status} ${body.code}: ${body.detail}`;
  };

  it('sends each change as it happens, with who did it and the object as it is', async () => {
    const reader = await open();
    expect(reader.status).to.equal(200);
    expect(reader.headers['content-type']).to.equal('text/event-stream');
    expect(reader.headers['cache-control']).to.equal('no-store');
    expect(reader.start).to.equal(index());
    const made = await policy('ops', { Rules: 'acl = "read"' });
    const { id, data } = await reader.change();
    expect([id, data.Index]).to.deep.equal([index(), index()]);
    const [{ Time, Author, ...event }] = data.Events;
    expect(Date.parse(Time)).to.be.greaterThan(0);
    expect(Author?.Description).to.equal('Initial Management Token');
    expect(event).to.deep.equal({
      Topic: 'ACLPolicy',
      Type: 'ACLPolicyCreated',
      Key: made.ID,
      Name: 'ops',
      Namespace: 'default',
      FilterKeys: ['ops'],
      Index: index(),
      Reason: '',
      Payload: { ACLPolicy: await must(`GET /acl/policy/${made.ID}`) },
    });
    await must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'ops' }] });
    const [role] = (await reader.change()).data.Events;
    expect(role.Payload['ACLRole']?.['Policies']).to.deep.equal([{ ID: made.ID, Name: 'ops' }]);
    await must(`PUT /acl/policy/${made.ID}`, { Name: 'ops2' });
    expect(short(await reader.change())).to.equal(`${index()}: ACLPolicyUpdated ops2`);
    await must(`DELETE /acl/policy/${made.ID}`);
    const gone = await reader.change();
    expect(short(gone)).to.equal(`${index()}: ACLPolicyDeleted ops2`);
    expect(gone.data.Events[0].Payload).to.deep.equal({});
  });

  it('tells a reader without changes of its own how far it is', async () => {
    const reader = await open('?topics=ACLRole');
    for (let n = 0; n < 1000; n++) stage.solo.must(LEVEL);
    const [id, data] = [index(), { Index: index() }];
    expect(await reader.next()).to.deep.equal({ id, event: 'progress', data });
    await must('PUT /acl/role', { Name: 'r' });
    expect(short(await reader.change())).to.equal(`${index()}: ACLRoleCreated r`);
  });

  it('tells of every type of objects, and of no secret', async () => {
    const reader = await open('?ns=*');
    await must('PUT /namespace', { Name: 'red' });
    const token = await must('PUT /acl/token', { Description: 't' });
    const Config = { Host: 'https://k', CACert: key.pem, ServiceAccountJWT: 'a.b.c' };
    const method = { Name: 'K8s', Type: 'kubernetes', Config };
    stage.solo.apply({ type: 'method.set', v: 1, ns: 'default', method } as Command);
    const rule = { AuthMethod: 'k8s', BindType: 'service', BindName: 'web' };
    const { ID } = await must('PUT /acl/binding-rule', rule);
    await must('PUT /config', { Kind: 'service-defaults', Name: 'Web', Protocol: 'http' });
    const frames = [];
    for (let n = 0; n < 5; n++) frames.push(await reader.change());
    const all = frames.flatMap(({ data }) => data.Events);
    expect(all.map(({ Topic, Key }) => `${Topic} ${Key}`)).to.deep.equal([
      'Namespace red',
      `ACLPolicy ${all[1]?.Key}`,
      `ACLToken ${token.AccessorID}`,
      'ACLAuthMethod K8s',
      `ACLBindingRule ${ID}`,
      'ConfigEntry service-defaults/Web',
    ]);
    expect(all.at(-1)?.FilterKeys).to.deep.equal(['service-defaults']);
    const text = JSON.stringify(frames);
    for (const secret of [token.SecretID, 'a.b.c']) expect(text).to.not.include(secret);
    expect(text).to.include('"SecretID":"<hidden>"');
  });

  it('sends one frame for an index, however many objects it changed', async () => {
    const reader = await open('?payload=none');
    const of = (Name: string) => ({ Type: 'policy', Object: { Name, Rules: '' } });
    const role = { Type: 'role', Object: { Name: 'r', Policies: [{ Name: 'b' }] } };
    await must('POST /apply', { Objects: [role, of('a'), of('b')] });
    const { data } = await reader.change();
    const names = data.Events.map(({ Name }) => Name);
    expect(names).to.deep.equal(['a', 'b', 'r']);
    for (const event of data.Events) expect(event).to.not.have.property('Payload');
  });

  it('goes on from any index, the header before the parameter', async () => {
    const indexes: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      await policy(name);
      indexes.push(index());
    }
    const [a, b, c] = indexes;
    const from = async (query: string, lastId?: number): Promise<string[]> => {
      const reader = await open(query, lastId === undefined ? {} : { lastId });
      await policy(`end-${index()}`);
      const seen: string[] = [];
      for (;;) {
        const frame = await reader.change();
        if (frame.id === index()) return seen;
        if (frame.id! <= c!) seen.push(short(frame));
      }
    };
    const all = ['a', 'b', 'c'].map((name, at) => `${indexes[at]}: ACLPolicyCreated ${name}`);
    expect(await from(`?index=${a}`)).to.deep.equal(all.slice(1));
    expect(await from(`?index=${a}`, b)).to.deep.equal(all.slice(2));
    expect(await from('?index=0')).to.deep.equal(all);
    expect(await from('')).to.deep.equal([]);
  });

  it('has the objects as of their index, also when they have changed since', async () => {
    const before = index();
    const { ID } = await policy('ops', { Rules: 'acl = "read"' });
    await must(`PUT /acl/policy/${ID}`, { Name: 'ops', Rules: 'acl = "write"' });
    await must(`DELETE /acl/policy/${ID}`);
    const reader = await open(`?index=${before}`);
    const rules = [];
    for (let n = 0; n < 3; n++) {
      const [{ Payload }] = (await reader.change()).data.Events;
      rules.push(Payload['ACLPolicy']?.['Rules']);
    }
    expect(rules).to.deep.equal(['acl = "read"', 'acl = "write"', undefined]);
  });

  it('narrows to topics, objects of them, and a namespace', async () => {
    await must('PUT /namespace', { Name: 'red' });
    const byId = await policy('by-id');
    const before = index();
    await policy('ops');
    await must(`PUT /acl/policy/${byId.ID}`, { Name: 'by-id', Description: 'x' });
    await must('PUT /acl/role', { Name: 'ops' });
    await must('PUT /acl/policy?ns=red', { Name: 'ops' });
    await must('PUT /config', { Kind: 'service-defaults', Name: 'a,b', Protocol: 'http' });
    await must('PUT /config', { Kind: 'proxy-defaults', Name: 'global' });
    await policy('end');
    const seen = async (query: string): Promise<string> => {
      const reader = await open(`?index=${before}&${query}`);
      const names: string[] = [];
      for (;;) {
        const { data } = await reader.change();
        for (const { Topic, Key, Name } of data.Events) {
          if (Name === 'end') return names.join(' ');
          names.push(Topic === 'ConfigEntry' ? Key : `${Topic}:${Name}`);
        }
      }
    };
    expect(await seen('topics=ACLRole,ACLPolicy:end')).to.equal('ACLRole:ops');
    expect(await seen('topics=ACLPolicy')).to.equal('ACLPolicy:ops ACLPolicy:by-id');
    expect(await seen('topics=ACLPolicy:OPS,ACLPolicy:end')).to.equal('ACLPolicy:ops');
    expect(await seen(`topics=ACLPolicy:${byId.ID},ACLPolicy:end`)).to.equal('ACLPolicy:by-id');
    expect(await seen('topics=ConfigEntry:proxy-defaults,ACLPolicy:end')).to.equal(
      'proxy-defaults/global',
    );
    for (const comma of [',', '%2C']) {
      const names = encodeURIComponent(`ConfigEntry:service-defaults/a${comma}b,ACLPolicy:end`);
      expect(await seen(`topics=${names}`), comma).to.equal('service-defaults/a,b');
    }
    expect(await seen('ns=*&topics=ACLPolicy')).to.equal(
      'ACLPolicy:ops ACLPolicy:by-id ACLPolicy:ops',
    );
  });

  it('refuses what it does not understand', async () => {
    expect(await refused('?topics=ACLPolice')).to.match(/^400 invalid: .*did you mean "ACLPolicy"/);
    expect(await refused('?topics=ACLRole:')).to.match(/^400 .*ACLRole has an empty key/);
    expect(await refused('?topics=Rights:x')).to.match(/^400 .*not an AccessorID/);
    expect(await refused(`?topics=${'ACLRole,'.repeat(1000)}ACLRole`)).to.match(/^400 .*1001/);
    expect(await refused('?index=x')).to.match(/^400/);
    expect(await refused('?payload=some')).to.match(/^400/);
    expect(await refused('?logins=1')).to.match(/^400/);
    expect(await refused('?topic=ACLRole')).to.match(/^400/);
    expect(await refused('', { 'last-event-id': '-1' })).to.match(/^400 .*Last-Event-ID/);
    const accessor = '8a2d0000-1111-4222-8333-944455556666';
    expect(await refused(`?topics=Rights:${accessor}`)).to.match(/^404/);
    const older = await SoloClient.open(eventRoutes(partsOf(new Solo())));
    expect((await older.ask('GET /events')).status).to.equal(503);
    await older.close();
    const bounds = { ...HISTORY_DEFAULTS, Bytes: 0, LoginBytes: 0 };
    await must('PUT /operator/history/configuration', bounds);
    expect(await refused('')).to.match(/^409 conflict: This cluster keeps no history/);
  });

  it('leaves out what the reader may not see at that moment, without a trace', async () => {
    const rules = await policy('reader', { Rules: 'service_prefix "" { policy = "read" }' });
    const { SecretID } = await must('PUT /acl/token', { Policies: [{ ID: rules.ID }] });
    const reader = await open('', { token: SecretID });
    const entry = (Name: string) => ({ Kind: 'service-defaults', Name, Protocol: 'http' });
    await policy('hidden');
    await must('PUT /config', entry('web'));
    const { id, data } = await reader.change();
    expect([id, data.Events.length]).to.deep.equal([index(), 1]);
    expect([data.Events[0].Key, data.Events[0].Author]).to.deep.equal([
      'service-defaults/web',
      null,
    ]);
    await must(`PUT /acl/policy/${rules.ID}`, { Name: 'reader', Rules: 'acl = "read"' });
    expect((await reader.change()).data.Events[0].Name).to.equal('reader');
    await must('PUT /config', entry('api'));
    await policy('seen');
    const next = await reader.change();
    expect(next.data.Events[0].Name).to.equal('seen');
    expect(next.data.Events[0].Author?.Description).to.equal('Initial Management Token');
  });

  it('ends when the token is gone, or expires', async () => {
    const rules = await policy('p', { Rules: 'acl = "read"' });
    const make = (more: object = {}) =>
      must('PUT /acl/token', { Policies: [{ ID: rules.ID }], ...more });
    const [gone, expiring] = [await make(), await make({ ExpirationTTL: '60s' })];
    const end = { id: undefined, event: 'end', data: { Reason: 'ACL not found' } };
    const first = await open('', { token: gone.SecretID });
    await must(`DELETE /acl/token/${gone.AccessorID}`);
    expect(await first.next()).to.deep.equal(end);
    expect(await first.next()).to.equal(undefined);
    const second = await open('', { token: expiring.SecretID });
    stage.solo.nowMs += 61_000;
    expect(await second.next()).to.deep.equal(end);
    expect((await ask('GET /events', undefined, gone.SecretID)).status).to.equal(403);
    const third = await open();
    stage.solo.events.stop();
    expect(await third.next()).to.deep.equal({ ...end, data: { Reason: 'stopping' } });
    expect(stage.solo.events.size).to.equal(0);
  });

  it('ends when the node must not use its state any more', async () => {
    const reader = await open();
    stage.solo.node.closed = () => refusal('unavailable', 'it was removed from the cluster');
    const end = { id: undefined, event: 'end', data: { Reason: 'stopping' } };
    expect(await reader.next()).to.deep.equal(end);
    expect((await ask('GET /events')).status).to.equal(503);
  });

  it('tells what is forgotten, restored, or not there yet', async () => {
    const first = index();
    for (let n = 0; n < 40; n++) await policy(`p${n}`, { Description: 'x'.repeat(1000) });
    await must('PUT /operator/history/configuration', {
      ...HISTORY_DEFAULTS,
      Bytes: 1 << 20,
      LoginBytes: 1 << 19,
      MaxAge: '1h',
    });
    stage.solo.forget();
    await policy('kept');
    const last = index();
    const late = await open(`?index=${first}`);
    const gap = await late.next();
    expect([gap?.event, gap?.data.From, gap?.data.Reason]).to.deep.equal([
      'gap',
      first,
      'forgotten',
    ]);
    expect(gap?.id).to.equal(gap?.data.To);
    expect(gap?.id).to.be.lessThan(last);
    expect(short(await late.change())).to.equal(`${last}: ACLPolicyCreated kept`);
    const oldest = await open('?index=0');
    expect(short(await oldest.change())).to.equal(`${last}: ACLPolicyCreated kept`);
    const ahead = await open('', { lastId: last + 1000 });
    expect(await ahead.next()).to.deep.equal({
      id: last,
      event: 'gap',
      data: { From: last + 1000, To: last, Reason: 'ahead' },
    });
    await policy('after');
    expect(short(await ahead.change())).to.equal(`${index()}: ACLPolicyCreated after`);
    await stage.restore();
    const restored = await late.next();
    const at = await ahead.next();
    for (const frame of [restored, at]) {
      const isSkipped = frame?.event === 'change' ? await late.next() : frame;
      expect([isSkipped?.event, isSkipped?.data.Reason, isSkipped?.id]).to.deep.equal([
        'gap',
        'restored',
        index(),
      ]);
    }
  });

  it('lets a reader stand still, holds nothing for it, and goes on where it stopped', async () => {
    const reader = await open('?topics=ACLPolicy');
    const other = await open('?topics=ACLPolicy&payload=none');
    reader.pause();
    const written: number[] = [];
    for (let n = 0; n < 120; n++) {
      await policy(`p${n}`, { Rules: `# ${'x'.repeat(60_000)}` });
      written.push(index());
    }
    const seen = async (of: EventReader): Promise<(number | undefined)[]> => {
      const ids = [];
      while (ids.length < written.length) ids.push((await of.change()).id);
      return ids;
    };
    // one that stands still does not hold up the others
    expect(await seen(other)).to.deep.equal(written);
    reader.resume();
    expect(await seen(reader)).to.deep.equal(written);
    reader.pause();
    for (let n = 0; n < 120; n++) await policy(`q${n}`, { Rules: `# ${'x'.repeat(60_000)}` });
    const bounds = { ...HISTORY_DEFAULTS, Bytes: 1 << 20, LoginBytes: 1 << 19, MaxAge: '1h' };
    await must('PUT /operator/history/configuration', bounds);
    stage.solo.forget();
    stage.solo.events.reset();
    await policy('end');
    reader.resume();
    let last: Frame | undefined;
    const reasons: (string | undefined)[] = [];
    do {
      last = await reader.next();
      if (last?.event === 'gap') reasons.push(last.data.Reason);
    } while (last?.id !== index());
    expect(reasons).to.deep.equal(['slow']);
    expect(short(last!)).to.equal(`${index()}: ACLPolicyCreated end`);
  });

  it('answers HEAD without a stream', async () => {
    const { status, headers, text } = await ask('HEAD /events');
    expect([status, text]).to.deep.equal([200, '']);
    expect(headers['content-type']).to.equal('text/event-stream');
    expect(stage.solo.events.size).to.equal(0);
  });
});
