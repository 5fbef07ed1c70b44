/** What answers add to config entries, and how secrets that they hide come back. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SoloClient } from './client.js';

interface Entry {
  readonly Kind: string;
  readonly Name: string;
  readonly Hash: number;
  readonly ModifyIndex: number;
  readonly PrivateKey?: string;
}
/** How an entry is judged. */
interface Result {
  readonly Valid: boolean;
  readonly Judged: string;
  readonly Normalised: Entry;
  readonly Problems: readonly { readonly Message: string; readonly Pointer: string }[];
}
interface Row {
  readonly name: string;
  readonly input: { readonly Kind: string; readonly Name: string; readonly PrivateKey: string };
}

const ROWS: readonly Row[] = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8'));
const CERTIFICATE = ROWS.find(({ name }) => name.startsWith('inline-certificate: minimal'))!.input;

describe('config entries as they are shown', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const put = (body: object, query = '') => client.must(`PUT /config${query}`, body);
  const get = (path: string): Promise<Entry> => client.must(`GET /config/${path}`);
  const list = (path: string): Promise<readonly Entry[]> => client.must(`GET /config/${path}`);
  const tokenOf = async (Rules: string): Promise<string> => {
    const Name = `p-${Rules.replace(/\W+/g, '-')}`;
    await client.must('PUT /acl/policy', { Name, Rules });
    return (await client.must('PUT /acl/token', { Policies: [{ Name }] })).SecretID;
  };

  describe('Hash', () => {
    const defaults = (Name: string, Protocol = 'http') => ({
      Kind: 'service-defaults',
      Name,
      Protocol,
    });
    const hashOf = async (path: string): Promise<number> => (await get(path)).Hash;

    it('is a number that is equal for equal content', async () => {
      await put(defaults('web'));
      const first = await hashOf('service-defaults/web');
      expect(Number.isSafeInteger(first) && first > 0, String(first)).to.equal(true);
      await put(defaults('web', 'grpc'));
      expect(await hashOf('service-defaults/web')).not.to.equal(first);
      await put(defaults('web'));
      expect(await hashOf('service-defaults/web')).to.equal(first);
    });

    it('stands in lists, pages, and the answer of a patch', async () => {
      await put(defaults('web'));
      const { Hash } = await get('service-defaults/web');
      for (const path of ['service-defaults', '', '?limit=5', 'service-defaults?filter=Name==web'])
        expect((await list(path))[0]!.Hash, path).to.equal(Hash);
      const patched = await client.must('PATCH /config/service-defaults/web', {});
      expect(patched.Hash).to.equal(Hash);
    });

    it('can be filtered by', async () => {
      await put(defaults('api'));
      await put(defaults('web'));
      const { Hash } = await get('service-defaults/web');
      for (const path of ['service-defaults', '']) {
        const found = await list(`${path}?filter=Hash==${Hash}`);
        expect(found.map(({ Name }) => Name)).to.deep.equal(['web']);
      }
    });

    it('does not change with what the server makes', async () => {
      const JWT = { Providers: [{ Name: 'okta' }] };
      const listener = { Name: 'l', Port: 80, Protocol: 'http', Default: { JWT } };
      await put({ Kind: 'api-gateway', Name: 'gw', Listeners: [listener] });
      const before = await get('api-gateway/gw');
      const JSONWebKeySet = { Local: { Filename: 'keys' } };
      await put({ Kind: 'jwt-provider', Name: 'okta', JSONWebKeySet });
      const { Hash, ModifyIndex } = await get('api-gateway/gw');
      expect(ModifyIndex).to.be.greaterThan(before.ModifyIndex);
      expect(Hash).to.equal(before.Hash);
    });

    it('counts what only looks as if the server made it', async () => {
      const status = (one: number) => ({ a: one, Status: { Conditions: null, b: one } });
      await put({ Kind: 'proxy-defaults', Config: status(1) });
      const first = await hashOf('proxy-defaults/global');
      await put({ Kind: 'proxy-defaults', Config: { ...status(1), Status: { Conditions: 2 } } });
      expect(await hashOf('proxy-defaults/global')).not.to.equal(first);
    });
  });

  describe('<hidden> in place of a secret', () => {
    const hiding = { ...CERTIFICATE, PrivateKey: '<hidden>', Meta: { a: 'b' } };
    const path = `inline-certificate/${encodeURIComponent(CERTIFICATE.Name)}`;
    const none = 'PrivateKey is "<hidden>", which keeps a stored value, and there is none';
    const judge = async (body: object, token?: string): Promise<Result> =>
      (await client.must('POST /config/validate', body, token)).Results[0];

    it('keeps the stored one when it is written', async () => {
      await put(CERTIFICATE);
      const { ModifyIndex } = await get(path);
      expect(await put(hiding)).to.equal(true);
      expect(await get(path)).to.include({ PrivateKey: CERTIFICATE.PrivateKey });
      expect(await put({ ...hiding, Meta: {} }, `?cas=${ModifyIndex}`)).to.equal(false);
      const { Kind: kind, PrivateKey: privatekey, ...rest } = hiding;
      expect(await put({ kind, privatekey, ...rest, Meta: {} })).to.equal(true);
      expect(await get(path)).to.include({ PrivateKey: CERTIFICATE.PrivateKey });
    });

    it('is what a reader gets, whoever has read the entry before', async () => {
      await put(CERTIFICATE);
      const reader = await tokenOf('operator = "read"');
      const read = (token?: string): Promise<Entry> =>
        client.must(`GET /config/${path}`, undefined, token);
      for (let round = 0; round < 2; round += 1) {
        expect((await read()).PrivateKey).to.equal(CERTIFICATE.PrivateKey);
        expect((await read(reader)).PrivateKey).to.equal('<hidden>');
      }
    });

    it('is refused where nothing is stored', async () => {
      const { status, body } = await client.ask('PUT /config', hiding, undefined, {
        headers: { accept: 'application/json' },
      });
      expect([status, body.detail, body.pointer]).to.deep.equal([400, none, '/PrivateKey']);
      const { Problems, Valid, Judged } = await judge(hiding);
      expect([Valid, Judged, Problems[0]!.Message]).to.deep.equal([false, 'form', none]);
      expect(Problems[0]!.Pointer).to.equal('/PrivateKey');
    });

    it('is judged as the stored one, which is not shown', async () => {
      await put(CERTIFICATE);
      const { Valid, Judged, Normalised } = await judge(hiding);
      expect([Valid, Judged, Normalised.PrivateKey]).to.deep.equal([true, 'all', '<hidden>']);
    });

    it('tells nobody else whether there is one', async () => {
      const reader = await tokenOf('service_prefix "" { policy = "write" }');
      const answers = async () => [
        (await client.ask('PUT /config', hiding, reader)).text,
        JSON.stringify((await judge(hiding, reader)).Problems),
      ];
      const before = await answers();
      await put(CERTIFICATE);
      expect(await answers()).to.deep.equal(before);
      expect(before[0]).to.include("lacks permission 'mesh:write'");
    });
  });
});
