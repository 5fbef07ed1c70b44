/** `conclave migrate --watch`: a cluster follows a source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Ran } from '../cli/harness.js';
import { until } from '../cluster/operator.js';
import { Moving } from './running.js';
import type { Json } from './stand-in.js';

const WATCH = '--watch --yes --with-secrets --mend --ask none --poll 200ms';

describe('conclave migrate --watch', function () {
  this.timeout(120_000);
  let moving: Moving;
  let watching: Promise<Ran>;
  let stop: AbortController;
  let said: string;
  const start = async (args = ''): Promise<void> => {
    stop = new AbortController();
    said = '';
    const hear = (text: string): void => {
      said += text;
    };
    const given = { signal: stop.signal, onOut: hear, onErr: hear };
    watching = moving.migrate(`${WATCH} ${args}`, given);
    await hears('written, index');
  };
  const hears = (text: string): Promise<string> =>
    until(
      async () => said,
      (all) => all.includes(text),
    );
  const stopped = async (): Promise<number> => {
    stop.abort();
    return (await watching).code;
  };
  const role = (id: unknown) => moving.cluster.ask(`GET /acl/role/${id}`);
  beforeEach(async () => {
    moving = await Moving.start();
  });
  afterEach(async () => {
    stop.abort();
    await watching;
    await moving.close();
  });

  it('writes what changes, and deletes what goes', async () => {
    const file = join(moving.user.home, 'metrics');
    await start(`--metrics-file ${file}`);
    const [first, second] = moving.source.recorded.Roles as [Json, Json];
    const token = moving.source.recorded.Tokens.find(({ Roles }) => Array.isArray(Roles))!;
    moving.source.change((_, index) => {
      Object.assign(first, { Description: 'changed', ModifyIndex: index });
    });
    await until(
      () => role(first['ID']),
      ({ body }) => body.Description === 'changed',
    );
    moving.source.change(({ Roles, Tokens }) => {
      Roles.splice(Roles.indexOf(second), 1);
      Tokens.splice(Tokens.indexOf(token), 1);
      for (const one of Tokens)
        if (Array.isArray(one['Roles']))
          one['Roles'] = one['Roles'].filter(({ ID }: Json) => ID !== second['ID']);
    });
    await until(
      () => role(second['ID']),
      ({ status }) => status === 404,
    );
    const gone = await moving.cluster.ask(`GET /acl/token/${token['AccessorID']}`);
    expect(gone.status).to.equal(403);
    await hears('1 change at index');
    expect(readFileSync(file, 'utf8')).to.match(/^conclave_migrate_changes_total [1-9]/m);
    expect(await stopped()).to.equal(5);
  });

  it('never gives a token a right that the source gives others after it lost it', async () => {
    await start();
    const { recorded } = moving.source;
    const policy = recorded.Policies.find(({ Name }) => Name === 'kv-json')!;
    const token = recorded.Tokens.find(
      ({ Policies }) => Array.isArray(Policies) && Policies.some(({ ID }) => ID === policy['ID']),
    )!;
    moving.source.change((_, index) => {
      token['Policies'] = [];
      Object.assign(policy, { Rules: 'operator = "write"', ModifyIndex: index });
    });
    const { SecretID } = token as { SecretID: string };
    const asked = [{ Resource: 'operator', Access: 'write' }];
    for (let isThere = false; !isThere; ) {
      const [answer] = await moving.cluster.must('POST /internal/acl/authorize', asked, SecretID);
      expect(answer.Allow).to.equal(false);
      const { Rules } = await moving.cluster.must(`GET /acl/policy/${policy['ID']}`);
      isThere = Rules === policy['Rules'];
    }
    await stopped();
  });

  it('leaves what was changed here, and says so once', async () => {
    await start();
    const [first] = moving.source.recorded.Roles as [Json];
    await moving.cluster.must(`PATCH /acl/role/${first['ID']}`, { Description: 'mine' });
    moving.source.change((_, index) => {
      Object.assign(first, { Description: 'theirs', ModifyIndex: index });
    });
    await hears(`conflict: role/default/${first['Name']} is not followed any more`);
    expect((await role(first['ID'])).body.Description).to.equal('mine');
    await stopped();
  });

  it('goes on after the source was away', async () => {
    await start();
    const { recorded } = moving.source;
    const port = Number(new URL(moving.source.url).port);
    moving.source.close();
    await hears('trying again');
    Object.assign(recorded.Roles[0]!, { Description: 'later', ModifyIndex: 9999 });
    await moving.replace({}, recorded, port);
    moving.source.change(() => {});
    await until(
      () => role(recorded.Roles[0]!['ID']),
      ({ body }) => body.Description === 'later',
    );
    await stopped();
  });
});
