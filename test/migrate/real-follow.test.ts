/** `conclave migrate --watch` and `--finish` with a real source that changes meanwhile. */
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { Report } from '../../src/api/migration-report.js';
import type { Ran } from '../cli/harness.js';
import { until } from '../cluster/operator.js';
import { differing, unsaid } from './live-questions.js';
import { fillAtRandom, grantsAt } from './random-source.js';
import { CONSUL, RealSource } from './real-source.js';
import { Moving } from './running.js';
import type { Json } from './stand-in.js';

const SEED = Number(process.env['PROPERTY_SEED'] ?? '1');
const WATCH = '--watch --yes --with-secrets --mend --ask none --poll 200ms';
const STEPS = 150;

if (CONSUL !== undefined) {
  describe('a real source that is followed', function () {
    this.timeout(300_000);
    let moving: Moving<RealSource>;
    let watching: Promise<Ran>;
    const stop = new AbortController();
    const random = new Random(SEED);
    let said = '';
    before(async () => {
      moving = await Moving.from(await RealSource.start(CONSUL!));
      await fillAtRandom(moving.source, random, { policies: 30, roles: 15, tokens: 30 });
      const hear = (text: string): void => {
        said += text;
      };
      watching = moving.migrate(WATCH, { signal: stop.signal, onOut: hear, onErr: hear });
      await until(
        async () => said,
        (all) => all.includes('written, index'),
      );
    });
    after(async () => {
      stop.abort();
      await watching;
      await moving.close();
    });
    const report = async (args: string): Promise<Report> =>
      JSON.parse((await moving.migrate(`${args} --with-secrets --mend -o json`)).out) as Report;

    /** Waits until nothing is left to write. */
    const settled = (): Promise<boolean> =>
      until(
        async () => {
          const { Types } = await report('--dry-run --ask none');
          return Object.values(Types).every((of) => of.Create + of.Update + of.Delete === 0);
        },
        (isIdle) => isIdle,
      );

    it('takes a right here that was taken there', async () => {
      const { source, cluster } = moving;
      const Rules = 'key "mine" { policy = "write" }';
      const policy = await source.must('PUT /acl/policy', { Name: 'taken', Rules });
      const token = await source.must('PUT /acl/token', { Policies: [{ Name: 'taken' }] });
      const may = async (): Promise<unknown> => {
        const body = [{ Resource: 'key', Access: 'write', Segment: 'mine' }];
        const answer = await cluster.ask('POST /internal/acl/authorize', body, token.SecretID);
        return answer.status === 200 ? answer.body[0].Allow : answer.status;
      };
      await until(may, (allowed) => allowed === true);
      await source.must(`PUT /acl/policy/${policy.ID}`, { Name: 'taken', Rules: '' });
      await until(may, (allowed) => allowed === false);
      await source.must(`DELETE /acl/token/${token.AccessorID}`);
      await until(may, (allowed) => allowed === 403);
    });

    it('ends with the state of the source, whatever is written there meanwhile', async () => {
      const { source } = moving;
      const list = async (path: string): Promise<Json[]> => source.must(`GET /${path}`);
      const some = async (path: string): Promise<Json | undefined> => {
        const all = (await list(path)).filter(
          ({ ID, AccessorID, Policies }) =>
            !String(ID ?? AccessorID).startsWith('00000000') &&
            !JSON.stringify(Policies ?? []).includes('global-management'),
        );
        return all.length === 0 ? undefined : random.pick(all);
      };
      const namesOf = async (path: string): Promise<string[]> =>
        (await list(path)).map(({ Name }) => String(Name)).filter((name) => /^[prn]-/.test(name));
      const rules = (): string => {
        const [name, level] = [random.int(4), random.pick(['read', 'write', 'deny'])];
        return `key_prefix "${name}" { policy = "${level}" }`;
      };
      const entry = (): Json => ({
        Kind: 'service-defaults',
        Name: `s-${random.int(8)}`,
        Protocol: random.pick(['tcp', 'http', 'grpc']),
      });
      const acts: (() => Promise<unknown>)[] = [
        () => source.ask('PUT /acl/policy', { Name: `n-${random.int(40)}`, Rules: rules() }),
        async () => {
          const one = await some('acl/policies');
          return one && source.ask(`PUT /acl/policy/${one['ID']}`, { ...one, Rules: rules() });
        },
        async () => {
          const one = await some('acl/policies');
          return one && source.ask(`DELETE /acl/policy/${one['ID']}`);
        },
        async () => {
          const granted = grantsAt(random, await namesOf('acl/policies'));
          return source.ask('PUT /acl/role', { Name: `n-${random.int(20)}`, ...granted });
        },
        async () => {
          const one = await some('acl/roles');
          const granted = grantsAt(random, await namesOf('acl/policies'));
          const body = { Name: one?.['Name'], ...granted };
          return one && source.ask(`PUT /acl/role/${one['ID']}`, body);
        },
        async () => {
          const one = await some('acl/roles');
          return one && source.ask(`DELETE /acl/role/${one['ID']}`);
        },
        async () => {
          const names = [await namesOf('acl/policies'), await namesOf('acl/roles')] as const;
          return source.ask('PUT /acl/token', grantsAt(random, ...names));
        },
        async () => {
          const one = await some('acl/tokens');
          const names = [await namesOf('acl/policies'), await namesOf('acl/roles')] as const;
          const body = { AccessorID: one?.['AccessorID'], ...grantsAt(random, ...names) };
          return one && source.ask(`PUT /acl/token/${one['AccessorID']}`, body);
        },
        async () => {
          const one = await some('acl/tokens');
          return one && source.ask(`DELETE /acl/token/${one['AccessorID']}`);
        },
        () => source.ask('PUT /config', entry()),
        () => source.ask(`DELETE /config/service-defaults/s-${random.int(8)}`),
      ];
      for (let step = 0; step < STEPS; step += 1) await random.pick(acts)();
      await settled();
      const { Rights } = await report('--dry-run --ask all');
      const known = Rights?.Differences ?? [];
      const codes = known.map(({ Code }) => Code);
      expect(codes).to.not.include.oneOf(['unexplained', 'reading', 'left_out']);
      const { tokens, found } = await differing(moving, random);
      expect(tokens).to.be.greaterThan(10);
      expect(unsaid(known, found)).to.deep.equal([]);
    });

    it('gives up ownership at the end', async () => {
      stop.abort();
      expect((await watching).code).to.be.oneOf([0, 4, 5]);
      const { code, err } = await moving.migrate(
        '--finish --yes --with-secrets --mend --accept rights_add_up,anonymous_operator',
      );
      expect(code, err).to.be.oneOf([0, 4]);
      expect(err).to.include('switched: 0 differences');
      expect(await moving.cluster.must('GET /owners')).to.deep.equal([]);
    });
  });
}
