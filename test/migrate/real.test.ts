import { expect } from 'chai';
import type { Report } from '../../src/api/migration-report.js';
import type { SourceState } from '../../src/migrate/source/types.js';
import { converted, read } from './reading.js';
import { CONSUL, RealSource } from './real-source.js';
import { Moving } from './running.js';
import { type Json, recordedSource } from './stand-in.js';

if (CONSUL === undefined) {
  console.log('CONSUL names no program: the recorded source stands for a real one');
} else {
  describe('a real source', () => {
    let source: RealSource;
    let moving: Moving<RealSource>;
    let state: SourceState;
    const recorded = recordedSource('community');
    before(async function () {
      this.timeout(60_000);
      source = await RealSource.start(CONSUL!);
      await source.fill(recorded);
      state = await read(source);
      moving = await Moving.from(source);
    });
    after(() => moving.close());
    const namesOf = (list: readonly object[]) =>
      list.map((one) => (one as { Name?: string }).Name).sort();

    it('shows what was written to it', () => {
      expect(state.info).to.include({ Datacenter: 'dc1', DefaultPolicy: 'deny', isOurs: false });
      expect(namesOf(state.policies)).to.deep.equal(namesOf(recorded.Policies));
      expect(namesOf(state.roles)).to.deep.equal(namesOf(recorded.Roles));
      expect(namesOf(state.authMethods)).to.deep.equal(namesOf(recorded.AuthMethods));
      expect(state.bindingRules).to.have.length(recorded.BindingRules.length);
      expect(state.findings).to.deep.equal([]);
    });

    it('shows objects with the members of the recorded ones', () => {
      for (const list of ['Policies', 'Roles', 'AuthMethods', 'BindingRules'] as const) {
        const of = (objects: readonly object[]) =>
          [...new Set(objects.flatMap((one) => Object.keys(one)))]
            .filter((member) => member !== 'Namespace')
            .sort();
        const key = `${list[0]!.toLowerCase()}${list.slice(1)}` as keyof SourceState;
        expect(of(state[key] as object[]), list).to.deep.equal(of(recorded[list]));
      }
    });

    it('is converted with the findings of the recorded one', () => {
      const codes = converted(state).findings.flatMap(({ Ref, Code }) =>
        Ref.startsWith('token/') || Ref.startsWith('binding-rule/') ? [] : [`${Code} ${Ref}`],
      );
      expect(codes).to.include('rules policy/default/typo');
      expect(codes).to.include('auth_method_type auth-method/default/aws');
    });

    it('hides secrets from those who may only read', async () => {
      const Policies = [{ Name: 'builtin/global-read-only' }];
      const { SecretID: token } = await source.must('PUT /acl/token', { Policies });
      const shown = await read({ url: source.url, token });
      expect(shown.findings).to.deep.equal([]);
      const { tokens, findings } = converted(shown);
      expect(tokens).to.deep.equal([]);
      expect(findings.filter(({ Code }) => Code === 'no_secret').length).to.be.greaterThan(5);
    });

    it('is found to decide otherwise than its rules read', async () => {
      const policy = async (name: string, level: string): Promise<Json> => {
        const Rules = `service "meeting" { policy = "${level}" }`;
        return source.must('PUT /acl/policy', { Name: name, Rules });
      };
      // The first of two policies, by its ID, is changed where it is kept.
      const wider = await policy('wider', 'write');
      let narrower = await policy('narrower', 'read');
      while (String(narrower['ID']) > String(wider['ID'])) {
        await source.must(`DELETE /acl/policy/${narrower['ID']}`);
        narrower = await policy('narrower', 'read');
      }
      const made = async (links: readonly Json[]) =>
        source.must('PUT /acl/token', { Policies: links.map(({ ID }) => ({ ID })) });
      const both = await made([wider, narrower]);
      const alone = await made([narrower]);
      const body = [{ Resource: 'service', Access: 'write', Segment: 'meeting' }];
      const may = async (token: Json): Promise<boolean> => {
        const [answer] = await source.must(
          'POST /internal/acl/authorize',
          body,
          String(token['SecretID']),
        );
        return answer.Allow;
      };
      expect(await may(both)).to.equal(true);
      expect(await may(alone)).to.equal(true);
      const { out } = await moving.migrate('--dry-run --mend --ask all -o json');
      const { Rights } = JSON.parse(out) as Report;
      const codes = Rights!.Differences.flatMap(({ Code, Sample, Access }) =>
        Sample.includes(alone.AccessorID) && Access === 'write' ? [Code] : [],
      );
      expect(codes).to.deep.equal(['reading']);
    });
  });
}
