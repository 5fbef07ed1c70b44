import { expect } from 'chai';
import fc from 'fast-check';
import { Random } from '../../cluster/checker/random.js';
import { ApiError } from '../../src/base/errors.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { EffectiveRights } from '../../src/service/explain/effective.js';
import { explainQuestions } from '../../src/service/explain/questions.js';
import { whoCan } from '../../src/service/explain/who-can.js';
import type { Command } from '../../src/state/types.js';
import { cascade, randomCommand } from '../support/random-commands.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { MANAGEMENT_SECRET, MANAGER, Solo } from './solo.js';

const START_MS = Date.parse('2030-01-01T00:00:00.000Z');
const options: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };
const asked = { caller: MANAGER, ns: 'default', options };
const Requests = [
  { Resource: 'acl', Access: 'read' },
  { Resource: 'service', Access: 'write', Segment: 'web' },
  { Resource: 'node', Access: 'read', Segment: 'n', Namespace: 'team' },
];
const [question] = Requests.slice(1);

/** Applies commands, each a second after the one before. */
function applied(solo: Solo, commands: readonly Command[]): void {
  for (const command of commands) {
    const time = new Date(START_MS + (solo.machine.appliedIndex() + 1) * 1000).toISOString();
    solo.apply({ author: { AccessorID: 'x', Description: 'ci' }, time, ...command });
  }
}

const begun = (): Command[] => {
  const management = {
    accessor: '0000000e-aaaa-4aaa-8aaa-000000000001',
    secret: MANAGEMENT_SECRET,
  };
  const createTime = new Date(START_MS).toISOString();
  const init = { type: 'system.init', v: 1, createTime, management: { ...management, createTime } };
  return [init as Command, { type: 'system.level', v: 1, level: 3 } as Command];
};

/** A history by chance, and the node that has it. */
function history(seed: number, count: number): { solo: Solo; commands: Command[] } {
  const solo = new Solo('deny', false);
  const commands = begun();
  applied(solo, commands);
  const random = new Random(seed);
  for (let n = 1; n <= count; n++) {
    const draw = { random, n, view: solo.store, applied: solo.machine.appliedIndex() };
    const some = random.chance(0.1) ? cascade(draw) : [() => randomCommand(draw)];
    for (const make of some) {
      const command = make();
      if (command.type.startsWith('history.')) continue;
      commands.push(command);
      applied(solo, [command]);
    }
  }
  return { solo, commands };
}

/** Returns an answer without what only a question about the past has. */
function plain(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const {
    At: _at,
    LoginsSince: _since,
    ...rest
  } = JSON.parse(text, (_key, value) => {
    if (typeof value !== 'object' || value === null) return value;
    const { Version: _version, ...step } = value;
    return Array.isArray(value) ? value : step;
  });
  return rest;
}

/** Returns what `ask` returns; undefined if that is no longer known. */
async function unlessForgotten<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError && error.refusal.members?.['Oldest'] !== undefined)
      return undefined;
    throw error;
  }
}

describe('explanations of the past', () => {
  it('equal those of a machine that has applied the log up to the index', async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        const { solo, commands } = history(seed, 80);
        const parts = partsOf(solo);
        for (let index = 5; index <= commands.length; index += 9) {
          const then = new Solo('deny', false);
          applied(then, commands.slice(0, index));
          const at = String(index);
          const who = await unlessForgotten(() =>
            whoCan(parts, { ...asked, isGone: () => false }, question!, { at }),
          );
          if (who === undefined) continue;
          then.nowMs = Date.parse(JSON.parse(who.value).At.Time);
          const past = partsOf(then);
          const could = await whoCan(past, { ...asked, isGone: () => false }, question!);
          const { Filtered } = JSON.parse(who.value);
          if (!Filtered)
            expect(plain(who.value), `who-can at ${at}`).to.deep.equal(plain(could.value));
          for (const key of then.store.keys('token\0')) {
            const [, ns, AccessorID] = key.split('\0') as [string, string, string];
            const body = { AccessorID, Requests };
            const is = await unlessForgotten(() => explainQuestions(parts, asked, body, at));
            if (is === undefined) {
              expect(ns, `${key} at ${at}`).not.to.equal('default');
              continue;
            }
            const was = await explainQuestions(past, asked, body);
            expect(plain(is.value), `${key} at ${at}`).to.deep.equal(plain(was.value));
            const whose = { caller: MANAGER, ns: 'default', accessor: AccessorID };
            const table = await new EffectiveRights(parts).readPast(whose, options, at);
            const tableThen = await new EffectiveRights(past).read(whose, options);
            expect(plain(table.value), `${key} at ${at}`).to.deep.equal(plain(tableThen.value));
            compared += was.value === undefined ? 0 : 1;
          }
        }
      }),
      { numRuns: 8 },
    );
    expect(compared).to.be.greaterThan(100);
  }).timeout(240_000);
});

describe('the parameter at', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  const EXPLAIN = 'POST /acl/authorize/explain';
  const ask = (AccessorID: string) => ({ AccessorID, Requests: [Requests[1]] });

  it('tells why, at that moment, even of a token that is gone', async () => {
    const policy = { Name: 'p', Rules: 'service "web" { policy = "write" }' };
    const { ID } = await client.must('PUT /acl/policy', policy);
    const token = await client.must('PUT /acl/token', { Policies: [{ ID }] });
    const then = client.solo.machine.appliedIndex();
    await client.must(`PUT /acl/policy/${ID}`, {
      ...policy,
      Rules: 'service "web" { policy = "deny" }',
    });
    await client.must(`DELETE /acl/token/${token.AccessorID}`);
    const answer = await client.must(`${EXPLAIN}?at=${then}`, ask(token.AccessorID));
    expect(answer.At.Index).to.equal(then);
    const [result] = answer.Results;
    expect(result.Allow).to.equal(true);
    const [first, second] = result.Winner.Sources[0].Path;
    expect(first).to.include({ Type: 'token', Version: then });
    expect(second).to.include({ Type: 'policy', Version: then - 1 });
    const now = await client.ask(EXPLAIN, ask(token.AccessorID));
    expect(now.status).to.equal(404);
    const later = await client.must(`${EXPLAIN}?at=${then + 1}`, ask(token.AccessorID));
    expect(later.Results[0].Allow).to.equal(false);
    const time = answer.At.Time;
    const byTime = await client.must(
      `${EXPLAIN}?at=${encodeURIComponent(time)}`,
      ask(token.AccessorID),
    );
    expect(byTime.At.Index).to.be.at.least(then);
  });

  it('is refused ahead of the state, in another form, and with a draft or a wait', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const { AccessorID } = await client.must('GET /acl/token/self');
    for (const at of ['999999', 'yesterday', '2030-13-45T00:00:00Z', '-1']) {
      const reply = await client.ask(`${EXPLAIN}?at=${at}`, ask(AccessorID));
      expect([reply.status, reply.body.detail.slice(0, 22)], at).to.deep.equal([
        400,
        'Invalid parameter "at"',
      ]);
    }
    const draft = await client.ask(`${EXPLAIN}?at=5`, { Draft: {}, Requests: [Requests[1]] });
    expect(draft.status).to.equal(400);
    const wait = await client.ask('GET /acl/token/self/effective?at=5&index=3');
    expect(wait.status).to.equal(400);
  });

  it('is 404 with the oldest moment below what is kept', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const { AccessorID } = await client.must('GET /acl/token/self');
    const reply = await client.ask(`${EXPLAIN}?at=1`, ask(AccessorID));
    expect(reply.status).to.equal(404);
    expect(reply.body.detail).to.equal('What held at index 1 is no longer known');
    expect(reply.body.Oldest.Index).to.equal(client.solo.machine.appliedIndex());
    const early = await client.ask('GET /export?at=2001-02-03T04:05:06Z');
    expect(early.body.detail).to.equal('What held at 2001-02-03T04:05:06Z is no longer known');
  });

  it('is 404 with a moment that can be asked for, where the first lines have no time', async () => {
    const policy = { Name: 'untimed', Description: '', Rules: '' };
    const id = 'ffffffff-aaaa-4aaa-8aaa-000000000007';
    const set = { type: 'policy.set', v: 1, ns: 'default', hash: '', id, create: true, policy };
    client.solo.must(set as Command);
    const untimed = client.solo.machine.appliedIndex();
    await client.must('PUT /acl/policy', { Name: 'p' });
    const { status, body } = await client.ask(`GET /export?at=${untimed}`);
    expect([status, body.Oldest.Index]).to.deep.equal([404, untimed + 1]);
    const { At } = await client.must(`GET /export?at=${body.Oldest.Index}`);
    expect(At).to.deep.equal(body.Oldest);
  });

  it('is 404 without an oldest moment where nothing is kept', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const { AccessorID } = await client.must('GET /acl/token/self');
    const bounds = { VersionsPerObject: 1, Bytes: 0, LoginBytes: 0, MaxAge: '' };
    client.solo.must({ type: 'history.configure', v: 1, bounds } as Command);
    client.solo.must({ type: 'history.trim', v: 1, nowMs: 0 } as Command);
    const newest = client.solo.machine.appliedIndex();
    for (const at of [1, newest])
      for (const call of [`${EXPLAIN}?at=${at}`, `GET /export?at=${at}`]) {
        const isExplain = call.startsWith('POST');
        const { status, body } = await client.ask(call, isExplain ? ask(AccessorID) : undefined);
        expect(status, call).to.equal(404);
        expect(body, call).to.not.have.property('Oldest');
        expect(body, call).to.include({
          detail: `What held at index ${at} is no longer known`,
          hint: 'the history is empty',
        });
      }
  });

  it('takes times with their zone alone, so that all nodes mean the same', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const day = '2101-02-03';
    for (const time of [`${day}T04:05:06`, `${day}T04:05Z`, day, '2101-02-30T04:05:06Z']) {
      const reply = await client.ask(`GET /export?at=${time}`);
      expect([reply.status, reply.body.detail], time).to.deep.equal([
        400,
        `Invalid parameter "at": "${time}" is neither an index nor a time such as ` +
          '2030-01-02T15:04:05Z',
      ]);
    }
    await client.must(`GET /export?at=${day}T04:05:06-07:00`);
  });

  it('needs the level of the history', async () => {
    const low = await SoloClient.open();
    try {
      const { AccessorID } = await low.must('GET /acl/token/self');
      const reply = await low.ask(`${EXPLAIN}?at=1`, ask(AccessorID));
      const { code, about } = reply.body;
      expect([reply.status, code, about]).to.deep.equal([503, 'unavailable', 'level']);
      expect(reply.body.detail).to.include('This needs level 3, the cluster is at level 1');
    } finally {
      await low.close();
    }
  });
});
