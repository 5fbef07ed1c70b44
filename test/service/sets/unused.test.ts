import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { SoloClient } from '../client.js';

const entry = (Kind: string, Name: string, more: object = {}) => ({
  Type: 'config',
  Object: { Kind, Name, ...more },
});
const http = (name: string) => entry('service-defaults', name, { Protocol: 'http' });

describe('A deletion with IfUnused', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  const applied = (body: object) => client.must('POST /apply', body);

  it('deletes no entry that an entry of any namespace refers to', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const provider = (Name: string) =>
      entry('jwt-provider', Name, {
        JSONWebKeySet: { Remote: { URI: 'https://idp.example/keys', FetchAsynchronously: true } },
      });
    const Rules = [
      {
        Filters: { JWT: { Providers: [{ Name: 'idp' }] } },
        Services: [{ Name: 'far' }],
      },
    ];
    const Services = [{ Name: 'Web', Consumers: [{ Peer: 'east' }] }];
    const exports = entry('exported-services', 'default', { Services });
    await applied({
      Objects: [
        http('web'),
        http('api'),
        entry('service-resolver', 'web'),
        provider('idp'),
        provider('other'),
        exports,
        { ...entry('http-route', 'r', { Rules }), Namespace: 'team' },
        { ...http('api'), Namespace: 'team' },
        { ...entry('service-router', 'api'), Namespace: 'team' },
      ],
    });
    const deletion = (Name: string) => ({ Type: 'config', Name, IfUnused: true });
    const used = ['service-defaults/web', 'service-resolver/web', 'jwt-provider/idp'];
    const refused: string[] = [];
    for (const name of used) {
      const plan = await client.must('POST /plan', { Delete: [deletion(name)] });
      for (const { Ref, Code } of plan.Problems) refused.push(`${Code} ${Ref}`);
    }
    expect(refused).to.deep.equal(used.map((name) => `conflict config/default/${name}`));
    const answer = await client.ask('POST /apply', { Delete: [deletion(used[0]!)] });
    expect(answer.status, answer.text).to.equal(409);
    const unused = [deletion('service-defaults/api'), deletion('jwt-provider/other')];
    expect(await applied({ Delete: unused })).to.include({ Changed: 2 });
    const Delete = [
      { Type: 'config', Name: 'exported-services/default' },
      { Type: 'config', Name: 'http-route/r', Namespace: 'team' },
      ...used.map(deletion),
    ];
    expect(await applied({ Delete })).to.include({ Changed: 5 });
  });
});
