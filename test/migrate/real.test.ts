import { expect } from 'chai';
import type { SourceState } from '../../src/migrate/source/types.js';
import { converted, read } from './reading.js';
import { CONSUL, RealSource } from './real-source.js';
import { recordedSource } from './stand-in.js';

if (CONSUL === undefined) {
  console.log('CONSUL names no program: the recorded source stands for a real one');
} else {
  describe('a real source', () => {
    let source: RealSource;
    let state: SourceState;
    const recorded = recordedSource('community');
    before(async () => {
      source = await RealSource.start(CONSUL!);
      await source.fill(recorded);
      state = await read(source);
    });
    after(() => source.close());
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
  });
}
