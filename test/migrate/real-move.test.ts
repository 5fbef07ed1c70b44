/** `conclave migrate` from a real source with objects at random. */
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { Report, RightsDifference } from '../../src/api/migration-report.js';
import { signer } from '../login/signers.js';
import { differing, unsaid } from './live-questions.js';
import { fillAtRandom } from './random-source.js';
import { CONSUL, RealSource } from './real-source.js';
import { Moving } from './running.js';
import type { Json } from './stand-in.js';

const SEED = Number(process.env['PROPERTY_SEED'] ?? '1');
const ALL = '--with-secrets --mend';

if (CONSUL !== undefined) {
  for (const policy of ['deny', 'allow'] as const)
    describe(`a real source with the default policy ${policy}, moved`, function () {
      this.timeout(300_000);
      let moving: Moving<RealSource>;
      let login: Json;
      const random = new Random(SEED);
      const migrate = async (args: string): Promise<Report> => {
        const { out, err } = await moving.migrate(`${args} -o json`);
        expect(out, err).to.not.equal('');
        return JSON.parse(out) as Report;
      };
      before(async () => {
        const source = await RealSource.start(CONSUL!, policy);
        moving = await Moving.from(source, policy);
        await fillAtRandom(source, random, { policies: 200, roles: 100, tokens: 200 });
        const key = await signer('ES256');
        const Config = { JWTValidationPubKeys: [key.pem], JWTSupportedAlgs: ['ES256'] };
        await source.must('PUT /acl/auth-method', { Name: 'ci', Type: 'jwt', Config });
        const rule = { AuthMethod: 'ci', BindType: 'service', BindName: 'web' };
        await source.must('PUT /acl/binding-rule', rule);
        const now = Math.floor(Date.now() / 1000);
        const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub: 'user-1' });
        login = await source.must('POST /acl/login', { AuthMethod: 'ci', BearerToken }, '');
      });
      after(() => moving.close());

      it('gives tokens the rights that they have at the source, or says which differ', async () => {
        const { Rights, Problems, Types, Exit } = await migrate(`--yes --ask all ${ALL}`);
        expect(Problems).to.equal(undefined);
        expect([0, 4, 5]).to.include(Exit);
        expect(Types['token']?.Create).to.be.greaterThan(150);
        expect(Rights?.Asked?.Tokens).to.be.greaterThan(100);
        const known = Rights?.Differences ?? [];
        // It allows to read all intentions by default, even where each rule about one denies it.
        const isKnown = ({ Resource, Segment, Access }: RightsDifference): boolean =>
          policy === 'allow' && Resource === 'intention' && Segment === '*' && Access === 'read';
        const unexplained = known.filter(
          (one) => ['unexplained', 'reading'].includes(one.Code) && !isKnown(one),
        );
        expect(unexplained).to.deep.equal([]);
        const { tokens, found } = await differing(moving, random);
        expect(tokens).to.be.greaterThan(150);
        expect(unsaid(known, found)).to.deep.equal([]);
      });

      it('knows the tokens of the source by their secrets, those of logins too', async () => {
        const { AccessorID, SecretID } = login;
        const own = await moving.cluster.must('GET /acl/token/self', undefined, String(SecretID));
        expect(own).to.deep.include({
          AccessorID,
          AuthMethod: 'ci',
          ServiceIdentities: [{ ServiceName: 'web' }],
        });
        const method = await moving.cluster.must('GET /acl/auth-method/ci');
        expect(method.Type).to.equal('jwt');
      });

      it('writes nothing when it runs again', async () => {
        const { index } = moving;
        const { code, err } = await moving.migrate(`--yes ${ALL} --ask none`);
        expect(err).to.include('nothing to write');
        expect([0, 4, 5]).to.include(code);
        expect(moving.index).to.equal(index);
        const accepted = '--accept rights_add_up,anonymous_operator';
        const { Types, Exit } = await migrate(`--dry-run ${ALL} ${accepted} --ask none`);
        expect(Exit).to.be.oneOf(policy === 'deny' ? [0, 4] : [0, 4, 5]);
        for (const [type, { Create, Update, Delete }] of Object.entries(Types))
          expect([type, Create, Update, Delete]).to.deep.equal([type, 0, 0, 0]);
      });
    });
}
