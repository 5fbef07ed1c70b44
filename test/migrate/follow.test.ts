/** `conclave migrate --watch`: a cluster follows a source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { Report } from '../../src/api/migration-report.js';
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
    const after = await until(
      () => moving.cluster.must(`GET /acl/policy/${policy['ID']}`),
      ({ Rules }) => Rules === policy['Rules'],
    );
    const narrowed = await moving.cluster.must(`GET /acl/token/${token['AccessorID']}`);
    expect(narrowed).to.not.have.property('Policies');
    expect(narrowed.ModifyIndex).to.be.lessThan(after.ModifyIndex);
    await stopped();
  });

  it('leaves what was changed here, and says so once', async () => {
    await start();
    const [first] = moving.source.recorded.Roles as [Json];
    await moving.cluster.must(`PATCH /acl/role/${first['ID']}`, { Description: 'mine' });
    moving.source.change((_, index) => {
      Object.assign(first, { Description: 'theirs', ModifyIndex: index });
    });
    await hears(`conflict: role/default/${first['Name']} is no longer followed`);
    expect((await role(first['ID'])).body.Description).to.equal('mine');
    await stopped();
  });

  /** Makes a change at the source, and waits until it is here. */
  const another = async (): Promise<void> => {
    const [first] = moving.source.recorded.Roles as [Json];
    moving.source.change((_, index) => {
      Object.assign(first, { Description: `changed at ${index}`, ModifyIndex: index });
    });
    await until(
      () => role(first['ID']),
      ({ body }) => body.Description === first['Description'],
    );
  };
  const tokenHere = async (id: unknown): Promise<number> =>
    (await moving.cluster.ask(`GET /acl/token/${id}`)).status;
  const SERVICE = '7d24b28a-591d-460e-a166-6b4c9ff383fa';
  const OF_LOGIN = 'e088a166-d17d-47dc-92c5-be714552ddb9';
  const conflictOf = (id: string): string =>
    `conflict: token/${id} is no longer followed: changed: it was`;

  it('makes no token again that was deleted here, and says so', async () => {
    await start();
    for (const id of [SERVICE, OF_LOGIN]) {
      await moving.cluster.must(`DELETE /acl/token/${id}`);
      await another();
      await hears(`${conflictOf(id)} deleted here by`);
    }
    await another();
    for (const id of [SERVICE, OF_LOGIN]) expect(await tokenHere(id)).to.equal(403);
    expect(said.split(conflictOf(SERVICE))).to.have.length(2);
    await stopped();
  });

  it('makes no policy again that was deleted here, and goes on without its links', async () => {
    await start();
    const { Policies, Tokens } = moving.source.recorded;
    const policy = Policies.find(({ Name }) => Name === 'kv-json')!;
    await moving.cluster.must(`DELETE /acl/policy/${policy['ID']}`);
    await another();
    await hears('conflict: policy/default/kv-json is no longer followed');
    expect(said).to.include('it was deleted here by');
    const AccessorID = '3a2d0000-1111-4222-8333-000000000001';
    const SecretID = '4a2d0000-1111-4222-8333-000000000001';
    const Links = [{ ID: policy['ID'], Name: 'kv-json' }];
    moving.source.change((_, ModifyIndex) =>
      Tokens.push({ AccessorID, SecretID, Policies: Links, Namespace: 'default', ModifyIndex }),
    );
    await until(
      () => tokenHere(AccessorID),
      (status) => status === 200,
    );
    const { status } = await moving.cluster.ask(`GET /acl/policy/${policy['ID']}`);
    expect(status).to.equal(404);
    expect(said.split('conflict: policy/default/kv-json')).to.have.length(2);
    expect(await stopped()).to.be.oneOf([4, 5]);
  });

  it('makes a token again that was deleted here, with --force', async () => {
    await start('--force');
    await moving.cluster.must(`DELETE /acl/token/${SERVICE}`);
    await another();
    await until(
      () => tokenHere(SERVICE),
      (status) => status === 200,
    );
    expect(said).to.not.include('conflict: token/');
    await stopped();
  });

  it('leaves a token that was changed here and goes at the source', async () => {
    await start();
    const { Tokens } = moving.source.recorded;
    const at = (id: string): number => Tokens.findIndex(({ AccessorID }) => AccessorID === id);
    await moving.cluster.must(`PATCH /acl/token/${SERVICE}`, { Description: 'mine' });
    moving.source.change(() => Tokens.splice(at(SERVICE), 1));
    await hears(`${conflictOf(SERVICE)} changed here by`);
    await another();
    expect(await tokenHere(SERVICE)).to.equal(200);
    await stopped();
  });

  it('makes a token again that went at the source and came back', async () => {
    await start();
    const { Tokens } = moving.source.recorded;
    const [token] = Tokens.filter(({ AccessorID }) => AccessorID === OF_LOGIN);
    const is = (wanted: number): Promise<number> =>
      until(
        () => tokenHere(OF_LOGIN),
        (status) => status === wanted,
      );
    moving.source.change(() => Tokens.splice(Tokens.indexOf(token!), 1));
    await is(403);
    moving.source.change(() => Tokens.push(token!));
    await is(200);
    expect(said).to.not.include('conflict: token/');
    await stopped();
  });

  it('ends with the state of the source, whatever is written there meanwhile', async () => {
    const random = new Random(7);
    const { recorded } = moving.source;
    const ofAws = recorded.Tokens.findIndex(({ AuthMethod }) => AuthMethod === 'aws');
    recorded.Tokens.splice(ofAws, 1);
    await start();
    const own = { Namespace: 'default' };
    const id = (kind: number, n: number): string => `${kind}a2d0000-1111-4222-8333-00000000000${n}`;
    const put = (list: Json[], key: string, one: Json): void => {
      const at = list.findIndex((each) => each[key] === one[key]);
      const before = at < 0 ? {} : list[at];
      list.splice(at < 0 ? list.length : at, at < 0 ? 0 : 1, { ...before, ...one });
    };
    const drop = (list: Json[], key: string, value: string): void => {
      const at = list.findIndex((each) => each[key] === value);
      if (at >= 0) list.splice(at, 1);
    };
    for (let step = 0; step < 60; step += 1) {
      const n = random.int(6);
      const linked = random.int(6);
      moving.source.change(({ Policies, Roles, Tokens }, ModifyIndex) => {
        const level = random.pick(['read', 'write']);
        const Rules = `key_prefix "${random.int(3)}" { policy = "${level}" }`;
        const isThere = Policies.some(({ ID }) => ID === id(1, linked));
        const links = isThere ? [{ ID: id(1, linked), Name: `p${linked}` }] : [];
        const named = { ...own, ModifyIndex, Description: '' };
        const acts = [
          () => put(Policies, 'ID', { ...named, ID: id(1, n), Name: `p${n}`, Rules }),
          () => put(Roles, 'ID', { ...named, ID: id(2, n), Name: `r${n}`, Policies: links }),
          () =>
            put(Tokens, 'AccessorID', {
              ...named,
              AccessorID: id(3, n),
              SecretID: id(4, n),
              Policies: links,
              Local: false,
              CreateTime: '2026-01-01T00:00:00Z',
            }),
          () => drop(Tokens, 'AccessorID', id(3, n)),
          () => drop(Roles, 'ID', id(2, n)),
          () => {
            drop(Policies, 'ID', id(1, n));
            for (const holder of [...Roles, ...Tokens])
              if (Array.isArray(holder['Policies']))
                holder['Policies'] = holder['Policies'].filter(({ ID }: Json) => ID !== id(1, n));
          },
        ];
        random.pick(acts)();
      });
      if (random.chance(0.2)) await moving.cluster.must('GET /acl/roles');
    }
    const idle = async (): Promise<boolean> => {
      const args = '--dry-run --with-secrets --mend --ask none -o json';
      const { Types } = JSON.parse((await moving.migrate(args)).out) as Report;
      return Object.values(Types).every((of) => of.Create + of.Update + of.Delete === 0);
    };
    await until(idle, (isIdle) => isIdle);
    expect(await stopped()).to.equal(4);
  });

  it('says once that another command moves from the same source', async () => {
    await start();
    const [first] = moving.source.recorded.Roles as [Json];
    let count = 0;
    const change = async (): Promise<void> => {
      count += 1;
      const Description = `changed ${count}`;
      moving.source.change((_, index) => {
        Object.assign(first, { Description, ModifyIndex: index });
      });
      await until(
        () => role(first['ID']),
        ({ body }) => body.Description === Description,
      );
    };
    for (let alone = 0; alone < 3; alone += 1) await change();
    expect(said).to.not.include('another command');
    const also = new AbortController();
    let others = '';
    const onErr = (text: string): void => {
      others += text;
    };
    const second = moving.migrate(WATCH, { signal: also.signal, onErr });
    await until(
      async () => others,
      (all) => all.includes('nothing to write'),
    );
    const words = 'another command moves from this source too: it wrote role/';
    await until(
      async () => {
        await change();
        return said.includes(words) || others.includes(words);
      },
      (isSaid) => isSaid,
    );
    also.abort();
    await second;
    expect((said + others).split(words).length).to.be.within(2, 3);
    await stopped();
  });

  it('tells what it does in lines for programs', async () => {
    stop = new AbortController();
    said = '';
    const onOut = (text: string): void => {
      said += text;
    };
    watching = moving.migrate(`${WATCH} -o json`, { signal: stop.signal, onOut });
    await hears('"Exit"');
    moving.source.change(({ Roles }, index) => {
      Object.assign(Roles[0]!, { Description: 'changed', ModifyIndex: index });
    });
    await hears('BehindMs');
    await stopped();
    const [report, line] = said.split('\n').map((text) => JSON.parse(text || 'null'));
    expect(report.Version).to.equal(1);
    expect(line).to.include({ Changed: 1 });
    expect(line).to.have.keys(
      ...['Time', 'SourceIndexes', 'Index', 'Changed', 'Conflicts', 'BehindMs'],
    );
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
