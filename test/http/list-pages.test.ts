/** Pages of lists: `limit`, `after`, `sort` and `search`. */
import { expect } from 'chai';
import fc from 'fast-check';
import { SoloClient } from '../service/client.js';
import type { Answer } from '../support/client.js';

const POLICY = '/acl/policy';
const namesOf = ({ body }: Answer): string[] => body.map(({ Name }: { Name: string }) => Name);
const nextOf = ({ headers }: Answer): string | undefined => headers['x-consul-next'] as string;

describe('http: pages of lists', function () {
  this.timeout(60_000);
  let client: SoloClient;
  const page = (path: string, query: Readonly<Record<string, string | number>>, token?: string) => {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
    );
    return client.ask(`GET ${path}?${text}`, undefined, token);
  };
  /** Reads all pages, each after the one before. */
  const pages = async (path: string, query: Readonly<Record<string, string | number>>) => {
    const found: Answer[] = [];
    for (let after: string | undefined = ''; after !== undefined; after = nextOf(found.at(-1)!))
      found.push(await page(path, { ...query, ...(after !== '' && { after }) }));
    return found;
  };

  describe('of policies', () => {
    beforeEach(async () => {
      client = await SoloClient.open();
      for (const Name of ['delta', 'Bravo', 'alpha', 'charlie', 'echo'])
        await client.must(`PUT ${POLICY}`, { Name, Description: `the ${Name.toUpperCase()} team` });
    });
    afterEach(() => client.close());

    it('follow one another, by name unless something else is asked for', async () => {
      const found = await pages('/acl/policies', { limit: 2 });
      const names = ['alpha', 'Bravo', 'builtin/global-read-only', 'charlie', 'delta', 'echo'];
      const all = found.flatMap(namesOf);
      expect(all.filter((name) => names.includes(name))).to.deep.equal(
        names.filter((name) => all.includes(name)),
      );
      expect(found.slice(0, -1).every(({ body }) => body.length === 2)).to.equal(true);
      const whole = await client.must('GET /acl/policies');
      expect(found[0]!.headers['x-consul-total']).to.equal(String(whole.length));
      expect(found[0]!.headers['x-service-total']).to.equal(String(whole.length));
      expect(all).to.have.members(whole.map(({ Name }: { Name: string }) => Name));
    });

    it('are sorted by creation and change, in either direction', async () => {
      const { ID } = await client.must(`GET ${POLICY}/name/alpha`);
      await client.must(`PUT ${POLICY}/${ID}`, { Name: 'alpha', Description: 'changed' });
      const newest = await page('/acl/policies', { sort: '-modified', limit: 2 });
      expect(namesOf(newest)).to.deep.equal(['alpha', 'echo']);
      const made = await page('/acl/policies', { sort: '-created', limit: 3 });
      expect(namesOf(made)).to.deep.equal(['echo', 'charlie', 'alpha']);
      const after = await page('/acl/policies', {
        sort: '-created',
        limit: 2,
        after: nextOf(made)!,
      });
      expect(namesOf(after)).to.deep.equal(['Bravo', 'delta']);
      const names = namesOf(await page('/acl/policies', { sort: '-name' }));
      expect(names).to.deep.equal(
        namesOf(await page('/acl/policies', { sort: 'name' })).toReversed(),
      );
    });

    it('go on where they ended, whatever was written between them', async () => {
      const first = await page('/acl/policies', { limit: 2 });
      expect(namesOf(first)).to.deep.equal(['alpha', 'Bravo']);
      const { ID } = await client.must(`GET ${POLICY}/name/bravo`);
      await client.must(`DELETE ${POLICY}/${ID}`);
      await client.must(`PUT ${POLICY}`, { Name: 'aardvark' });
      await client.must(`PUT ${POLICY}`, { Name: 'bravo-2' });
      const second = await page('/acl/policies', { limit: 2, after: nextOf(first)! });
      expect(namesOf(second)[0]).to.equal('bravo-2');
      expect(namesOf(await page('/acl/policies', { limit: 1 }))).to.deep.equal(['aardvark']);
    });

    it('have what a search finds, in any letter case', async () => {
      const found = await page('/acl/policies', { search: 'TEAM bravo', limit: 10 });
      expect(namesOf(found)).to.deep.equal(['Bravo']);
      expect(found.headers['x-consul-total']).to.equal('1');
      const whole = await client.ask('GET /acl/policies?search=the+CHARLIE');
      expect(namesOf(whole)).to.deep.equal(['charlie']);
      expect(whole.headers['x-consul-total']).to.equal(undefined);
    });

    it('have what a filter and a search both let through', async () => {
      const filter = 'Name matches "^[a-c]"';
      const found = await page('/acl/policies', {
        filter,
        search: 'team',
        sort: '-name',
        limit: 2,
      });
      expect(namesOf(found)).to.deep.equal(['charlie', 'alpha']);
      expect(found.headers['x-consul-total']).to.equal('2');
    });

    it('begin behind an item, named by its ID or name, in any order', async () => {
      const { ID } = await client.must(`GET ${POLICY}/name/bravo`);
      for (const after of [ID, ID.toUpperCase(), 'Bravo', 'bravo']) {
        const found = await page('/acl/policies', { filter: 'Name not matches "/"', after });
        expect(namesOf(found)[0], after).to.equal('charlie');
      }
      const reversed = await page('/acl/policies', { sort: '-name', limit: 1, after: ID });
      expect(namesOf(reversed)).to.deep.equal(['alpha']);
      const made = await page('/acl/policies', { sort: 'created', limit: 1, after: ID });
      expect(namesOf(made)).to.deep.equal(['alpha']);
      const narrow = await page('/acl/policies', { search: 'echo', limit: 1, after: ID });
      expect(narrow.status, 'an item that the list does not show').to.equal(400);
    });

    it('begin behind an item whose name is base64 of other bytes', async () => {
      const Name = Buffer.from('x:y\u0000').toString('base64url');
      await client.must(`PUT ${POLICY}`, { Name });
      const filter = 'Name != "global-management"';
      const { status, body } = await page('/acl/policies', { filter, after: Name });
      expect([status, body]).to.deep.equal([200, []]);
    });

    it('begin behind no item whose name others have, lest a client go round for ever', async () => {
      await client.must('PUT /namespace', { Name: 'team' });
      const { ID } = await client.must(`PUT ${POLICY}?ns=team`, { Name: 'bravo' });
      const all = { ns: '*', filter: 'Name not matches "/"' };
      const { status, text } = await page('/acl/policies', { ...all, after: 'bravo' });
      expect([status, text]).to.deep.equal([
        400,
        'Invalid parameter "after": "bravo" is the name of several items: ' +
          'send the header Next of the page before, or the ID of an item',
      ]);
      expect(namesOf(await page('/acl/policies', { ...all, after: ID }))[0]).to.equal('charlie');
    });

    it('are not held', async () => {
      for (const query of ['limit=2', 'sort=name', 'after=alpha']) {
        const { status, text } = await client.ask(`GET /acl/policies?${query}&index=3`);
        expect(status, query).to.equal(400);
        expect(text).to.equal(
          'Parameter "index" cannot be sent with limit, after or sort: pages do not block',
        );
      }
    });

    for (const [query, why] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=ten', 'limit'],
      ['limit=18446744073709551615', 'limit'],
      ['sort=Name', 'sort'],
      ['sort=secret', 'sort'],
      ['after=x', 'after'],
      ['after=bmFtZQ&sort=created', 'after'],
    ] as const)
      it(`refuse ${query}`, async () => {
        const { status, text } = await client.ask(`GET /acl/policies?${query}`);
        expect(status).to.equal(400);
        expect(text).to.match(new RegExp(`^Invalid parameter "${why}": "[^"]*" [a-z]`));
      });
  });

  describe('of other objects', () => {
    beforeEach(async () => {
      client = await SoloClient.open();
    });
    afterEach(() => client.close());

    it('sort tokens by description and by their end, those without an end last', async () => {
      for (const [Description, more] of [
        ['b', { ExpirationTTL: '2h' }],
        ['A', {}],
        ['c', { ExpirationTTL: '1h' }],
      ] as const)
        await client.must('PUT /acl/token', { Description, ...more });
      const described = (answer: Answer): string[] =>
        answer.body
          .map(({ Description }: { Description: string }) => Description)
          .filter((text: string) => text.length === 1);
      expect(described(await page('/acl/tokens', { sort: 'name' }))).to.deep.equal(['A', 'b', 'c']);
      expect(described(await page('/acl/tokens', { sort: 'expires' }))).to.deep.equal([
        'c',
        'b',
        'A',
      ]);
    });

    it('find objects by the start of an ID, not by what is inside of it or of a hash', async () => {
      const { ID, Hash } = await client.must(`PUT ${POLICY}`, { Name: 'one' });
      const found = async (search: string) =>
        namesOf(await page('/acl/policies', { search, limit: 5 }));
      expect(await found(ID.slice(0, 8))).to.deep.equal(['one']);
      expect(await found(ID.slice(9))).to.deep.equal([]);
      expect(await found(Hash)).to.deep.equal([]);
    });

    it('find no token by its secret', async () => {
      const { SecretID, AccessorID } = await client.must('PUT /acl/token', { Description: 'x' });
      const bySecret = await page('/acl/tokens', { search: SecretID.slice(0, 13) });
      expect(bySecret.body).to.deep.equal([]);
      const byAccessor = await page('/acl/tokens', { search: AccessorID.slice(0, 13) });
      expect(byAccessor.body).to.have.length(1);
    });

    it('follow the names of links', async () => {
      const { ID } = await client.must(`PUT ${POLICY}`, { Name: 'before' });
      await client.must('PUT /acl/role', { Name: 'linking', Policies: [{ ID }] });
      const found = async (search: string) =>
        namesOf(await page('/acl/roles', { search, limit: 5 }));
      expect(await found('before')).to.deep.equal(['linking']);
      await client.must(`PUT ${POLICY}/${ID}`, { Name: 'afterwards' });
      expect(await found('before')).to.deep.equal([]);
      expect(await found('afterwards')).to.deep.equal(['linking']);
    });

    it('show config entries as far as their reader may read them', async () => {
      for (const Name of ['web-a', 'web-b', 'db-a'])
        await client.must('PUT /config', { Kind: 'service-defaults', Name, Protocol: 'http' });
      await client.must('PUT /config', { Kind: 'service-resolver', Name: 'web-a' });
      const Rules = 'service_prefix "web-" { policy = "read" }';
      await client.must(`PUT ${POLICY}`, { Name: 'webs', Rules });
      const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ Name: 'webs' }] });
      const own = await page('/config/service-defaults', { limit: 1, sort: '-name' }, SecretID);
      expect(namesOf(own)).to.deep.equal(['web-b']);
      expect(own.headers['x-consul-total']).to.equal('2');
      expect(own.filtered).to.equal('true');
      const all = await page('/config/service-defaults', { limit: 1, sort: 'name' });
      expect([namesOf(all), all.headers['x-consul-total']]).to.deep.equal([['db-a'], '3']);
      expect(nextOf(own)).not.to.equal(undefined);
      const kinds = await page('/config/', { search: 'web-a', sort: '-created' });
      expect(kinds.body.map(({ Kind }: { Kind: string }) => Kind)).to.deep.equal([
        'service-resolver',
        'service-defaults',
      ]);
    });

    it('order entries of all kinds as the whole list', async () => {
      for (const Name of ['b', 'a'])
        for (const Kind of ['service-resolver', 'service-defaults'])
          await client.must('PUT /config', { Kind, Name });
      await client.must('PUT /config', { Kind: 'mesh' });
      const shown = ({ body }: Answer): string[] =>
        body.map(({ Kind, Name }: Record<string, string>) => `${Kind}/${Name}`);
      const whole = shown(await page('/config/', {}));
      expect(shown(await page('/config/', { limit: 9 }))).to.deep.equal(whole);
      expect(shown(await page('/config/', { sort: '-name' }))).to.deep.equal(whole.toReversed());
      const rest = await page('/config/', { limit: 9, after: whole[1]! });
      expect(shown(rest)).to.deep.equal(whole.slice(2));
    });

    it('list namespaces', async () => {
      for (const Name of ['team-b', 'team-a']) await client.must('PUT /namespace', { Name });
      const found = await page('/namespaces', { limit: 1, search: 'team' });
      expect([namesOf(found), found.headers['x-consul-total']]).to.deep.equal([['team-a'], '2']);
    });
  });

  it('are cut from the list as it is then, for any writes and pages', async () => {
    const name = fc.stringMatching(/^[a-dA-D]{1,2}$/);
    const write = fc.record({
      name,
      description: fc.constantFrom('x', 'Y', 'yx'),
      gone: fc.boolean(),
    });
    const query = fc.record({
      limit: fc.integer({ min: 1, max: 4 }),
      sort: fc.constantFrom('name', '-name', 'created', '-created', 'modified', '-modified'),
      search: fc.constantFrom('', 'y'),
    });
    const step = fc.oneof(write, query);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        client = await SoloClient.open();
        try {
          for (const one of steps) {
            if ('gone' in one) await change(one);
            else await compare(one);
          }
        } finally {
          await client.close();
        }
      }),
      { numRuns: 30 },
    );
    async function change({
      name: Name,
      description: Description,
      gone,
    }: {
      readonly name: string;
      readonly description: string;
      readonly gone: boolean;
    }) {
      const { status, body } = await client.ask(`GET /acl/role/name/${Name}`);
      if (status === 200 && gone) await client.must(`DELETE /acl/role/${body.ID}`);
      else if (status === 200) await client.must(`PUT /acl/role/${body.ID}`, { Name, Description });
      else await client.must('PUT /acl/role', { Name, Description });
    }
    async function compare({
      limit,
      sort,
      search,
    }: {
      readonly limit: number;
      readonly sort: string;
      readonly search: string;
    }) {
      const asked = { limit, sort, ...(search !== '' && { search }) };
      const found = (await pages('/acl/roles', asked)).flatMap(({ body }) => body);
      const whole: {
        Name: string;
        Description: string;
        CreateIndex: number;
        ModifyIndex: number;
      }[] = await client.must('GET /acl/roles');
      const by = { name: 'Name', created: 'CreateIndex', modified: 'ModifyIndex' } as const;
      const member = by[sort.replace('-', '') as keyof typeof by];
      const value = (role: (typeof whole)[number]) =>
        member === 'Name' ? role.Name.toLowerCase() : role[member];
      const expected = whole
        .filter((role) => `${role.Name} ${role.Description}`.toLowerCase().includes(search))
        .sort((a, b) => (value(a) < value(b) ? -1 : 1));
      if (sort.startsWith('-')) expected.reverse();
      expect(found).to.deep.equal(expected);
    }
  });
});
