/** Which blocks of logins a migration makes and lifts. */
import { expect } from 'chai';
import type { BlockRow } from '../../src/api/endpoints/identities.js';
import type { Ask } from '../../src/cli/client/http.js';
import { planOurs } from '../../src/cli/migrate/of-ours.js';
import { Way } from '../../src/cli/migrate/source-connection.js';
import type { MovedItem } from '../../src/migrate/source/types.js';
import { stateOf, TestClock } from './reading.js';

const OWNER = 'migrate/dc1';
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

const block = (more: Partial<BlockRow> = {}): BlockRow => ({
  ID: '1b7f0000-1111-4222-8333-000000000001',
  AuthMethod: 'jwt',
  Namespace: 'default',
  Subject: 'user-1',
  Until: null,
  Author: null,
  Time: '2026-01-01T00:00:00Z',
  Reason: 'INC-7',
  ModifyIndex: 7,
  ...more,
});
/** The same block at the target. */
const carried = (more: Partial<BlockRow> = {}): BlockRow =>
  block({ Reason: `${OWNER}: INC-7`, ...more });

interface Sides {
  /** The status instead of the blocks of the source. */
  readonly there: readonly BlockRow[] | number;
  readonly here: readonly BlockRow[];
  /** Whether the auth methods of these namespaces were read. Default: `default`. */
  readonly read?: readonly string[];
  /** The namespaces whose method is moved. Default: `default`. */
  readonly moved?: readonly string[];
}

/** Plans with these blocks at both sides. Returns the subjects of what is made and lifted. */
async function planned({ there, here, read = ['default'], moved = ['default'] }: Sides) {
  const server = (blocks: readonly BlockRow[] | number) => {
    const ask = async (_method: string, path: string) => {
      const isList = path === '/v1/acl/identity-blocks';
      const status = isList && typeof blocks === 'number' ? blocks : 200;
      const text = JSON.stringify(isList ? blocks : {});
      return { status, text, header: () => undefined, json: () => JSON.parse(text) };
    };
    return { ask, get: (path: string, _ask: Ask) => ask('GET', path) };
  };
  const keys = read.map((ns) => `acl/auth-methods${ns === 'default' ? '' : `?ns=${ns}`}`);
  const Indexes = Object.fromEntries(keys.map((key) => [key, 7]));
  const items = moved.map(
    (Namespace): MovedItem => ({ Type: 'auth-method', Namespace, Object: { Name: 'JWT' } }),
  );
  const parts = [{ step: 'auth-method', items }] as const;
  const { made, lifted } = await planOurs(
    { api: server(here) as never },
    new Way(server(there) as never, 'source', { clock: new TestClock(), rate: 1000 }),
    { owner: OWNER },
    {
      state: stateOf({}, { Indexes, isOurs: true, hasNamespaces: true }),
      converted: { parts, tokens: [], findings: [] },
    },
  );
  const subjects = (list: readonly BlockRow[]) => list.map(({ Subject }) => Subject);
  return { made: subjects(made), lifted: subjects(lifted) };
}

const NOTHING = { made: [], lifted: [] };

describe('blocks of logins that a migration carries', () => {
  it('are made where they are missing, and lifted when they have gone at the source', async () => {
    const [there, here] = [[block()], [carried({ Subject: 'user-2' })]];
    expect(await planned({ there, here })).to.deep.equal({ made: ['user-1'], lifted: ['user-2'] });
  });

  it('stay until those of the source end', async () => {
    const Until = inMs(50_000);
    const sides = { there: [block({ Until })], here: [carried({ Until })] };
    expect(await planned(sides)).to.deep.equal(NOTHING);
  });

  it('stay while the source has one for the same logins that is too short to be made', async () => {
    const sides = { there: [block({ Until: inMs(50_000) })], here: [carried()] };
    expect(await planned(sides)).to.deep.equal(NOTHING);
  });

  it('stay where their auth method is left out', async () => {
    const sides = { there: [block()], here: [carried()], moved: [] };
    expect(await planned(sides)).to.deep.equal(NOTHING);
  });

  it('stay where auth methods were not read, or the namespace is not moved', async () => {
    const here = [carried(), carried({ Namespace: 'team' })];
    expect(await planned({ there: [], here, read: [] })).to.deep.equal(NOTHING);
    const lifted = [here[0]!.Subject];
    expect(await planned({ there: [], here })).to.deep.equal({ made: [], lifted });
  });

  it('stay where the source does not show its blocks', async () => {
    expect(await planned({ there: 404, here: [carried()] })).to.deep.equal(NOTHING);
  });

  it('stay where another datacenter has carried them', async () => {
    const here = [carried({ Reason: 'migrate/dc10: INC-7' })];
    expect(await planned({ there: [], here })).to.deep.equal(NOTHING);
  });
});
