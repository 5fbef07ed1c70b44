/** The way back: what was moved here is loaded into a fresh Consul, and compared with it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { Report } from '../../src/api/migration-report.js';
import { signer } from '../login/signers.js';
import { fillAtRandom } from './random-source.js';
import { CONSUL, RealSource } from './real-source.js';
import { Moving } from './running.js';

const SEED = Number(process.env['PROPERTY_SEED'] ?? '1');

if (CONSUL !== undefined) {
  describe('a real source that is loaded from here', function () {
    this.timeout(300_000);
    let moving: Moving<RealSource>;
    let first: RealSource;
    const env = (): Record<string, string> => ({
      CONCLAVE_HTTP_ADDR: moving.cluster.url,
      CONCLAVE_HTTP_TOKEN: moving.cluster.token,
    });
    before(async () => {
      first = await RealSource.start(CONSUL!);
      moving = await Moving.from(first);
      await fillAtRandom(first, new Random(SEED), { policies: 40, roles: 20, tokens: 40 });
      const key = await signer('ES256');
      const Config = {
        JWTValidationPubKeys: [key.pem],
        JWTSupportedAlgs: ['ES256'],
        ClaimMappings: { sub: 'name' },
      };
      await first.must('PUT /acl/auth-method', { Name: 'ci', Type: 'jwt', Config });
      for (const Selector of ['', 'value.name == "a<b" and value.name != "c"'])
        await first.must('PUT /acl/binding-rule', {
          AuthMethod: 'ci',
          BindType: 'service',
          BindName: '${value.name}',
          Selector,
          Description: `it's "quoted" <b>`,
        });
      // A program that is built from the archive of its module has a command line of a later
      // release than its server, which refuses what it writes of these.
      for (const { Name } of (await first.must('GET /config/api-gateway')) as { Name: string }[])
        await first.must(`DELETE /config/api-gateway/${Name}`);
      await moving.migrate('--yes --with-secrets --mend --ask none');
      moving.source = await RealSource.start(CONSUL!);
    });
    after(async () => {
      await moving.close();
      await first.close();
    });

    /** Runs load.sh with the real command line. */
    const load = async (folder: string): Promise<{ code: number; text: string }> => {
      const { source, user } = moving;
      const child = spawn('sh', [join(folder, 'load.sh')], {
        env: {
          PATH: `${user.home}:${process.env['PATH']}`,
          CONSUL_HTTP_ADDR: source.url,
          CONSUL_HTTP_TOKEN: source.token,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part: Buffer) => {
          text += part.toString();
        });
      const [code] = (await once(child, 'close')) as [number];
      return { code, text };
    };

    it('needs no write but IDs, and has equal rights', async () => {
      const folder = join(moving.user.home, 'folder');
      symlinkSync(resolve(CONSUL!), join(moving.user.home, 'consul'));
      const args = ['export', '--consul', folder, '--with-secrets'];
      const exported = await moving.user.run(args, { env: env() });
      expect(exported.code, exported.err).to.be.oneOf([0, 4]);
      const loaded = await load(folder);
      expect(loaded.code, loaded.text).to.equal(0);
      const again = await load(folder);
      expect(again.code, again.text).to.equal(0);
      const ran = await moving.migrate('--dry-run --with-secrets --ask all -o json');
      const { Types, Rights, Problems = [] } = JSON.parse(ran.out) as Report;
      // The command line has no place for templated policies that hold in some datacenters alone.
      const lost = readFileSync(join(folder, 'NOT-LOADED.md'), 'utf8');
      const refs = [...new Set(lost.match(/^\| (?:role|token)\/[^ |]+/gm))];
      const lostOf = (type: string): number =>
        refs.filter((ref) => ref.startsWith(`| ${type}/`)).length;
      for (const [type, { Create, Update, Delete }] of Object.entries(Types)) {
        // The management token of a fresh source.
        const made = type === 'token' ? 1 : 0;
        expect([type, Create, Update, Delete]).to.deep.equal([type, made, lostOf(type), 0]);
      }
      expect(Problems).to.deep.equal([]);
      expect(Rights?.Differences).to.deep.equal([]);
      expect(Rights?.Equal).to.equal(true);
    });
  });
}
