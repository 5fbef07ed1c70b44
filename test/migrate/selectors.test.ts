/** Selectors over claims that no mapping makes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { selectorProblem } from '../../src/acl/binding.js';
import { shapeOfMappings } from '../../src/acl/shapes.js';
import { compileExpression } from '../../src/languages/bexpr.js';
import { mendSelector } from '../../src/migrate/source/selectors.js';
import { converted, stateOf } from './reading.js';

const shape = shapeOfMappings({
  values: new Map([['sub', 'name']]),
  lists: new Map([['groups', 'groups']]),
});
const mended = (selector: string) => mendSelector(selector, shape);

describe('selectors that are mended', () => {
  it('takes out what is always false', () => {
    const text = 'value.name == "a"';
    expect(mended(`value.department == "it" or ${text}`)).to.deep.equal({ text });
    expect(mended(`not ("x" in list.nope) and ${text}`)).to.deep.equal({ text });
    expect(mended('value.nope != "x"')).to.deep.equal({ text: '' });
    expect(mended(`${text} and ("x" in list.nope or value.nope == "y")`)).to.equal('never');
  });

  it('keeps what stands together', () => {
    const selector = '(value.name == "a" or value.name == "b") and list.nope is empty';
    expect(mended(`${selector} and "g" in list.groups`)).to.deep.equal({
      text: '(value.name == "a" or value.name == "b") and "g" in list.groups',
    });
  });

  it('mends nothing that is taken, or refused for another reason', () => {
    for (const selector of ['', 'value.name == "a"', 'value.name ==', 'other.nope == "a"'])
      expect(mended(selector), selector).to.equal(undefined);
  });

  it('matches the same identities', () => {
    const tests = fc.constantFrom(
      ...['value.name', 'value.nope'].flatMap((path) => [
        `${path} == "a"`,
        `${path} != "a"`,
        `${path} matches "^a"`,
        `${path} not matches "^a"`,
        `"a" in ${path}`,
      ]),
      ...['list.groups', 'list.nope'].flatMap((path) => [
        `"a" in ${path}`,
        `"a" not in ${path}`,
        `${path} is empty`,
        `${path} is not empty`,
      ]),
      '"nope" in value',
      '"name" not in value',
    );
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 4 },
        tests,
        tie('expression').map((one) => `not (${one})`),
        fc
          .tuple(tie('expression'), fc.constantFrom('and', 'or'), tie('expression'))
          .map(([a, word, b]) => `(${a}) ${word} (${b})`),
      ),
    }));
    const text = fc.constantFrom('a', 'b');
    const identities = fc.record({
      value: fc.record({ name: text }, { requiredKeys: [] }),
      list: fc.record({ groups: fc.array(text, { maxLength: 2 }) }, { requiredKeys: [] }),
    });
    const holds = (selector: string, identity: unknown): boolean => {
      if (selector === '') return true;
      const compiled = compileExpression(selector, shape.selectable);
      return compiled.ok && compiled.evaluate(identity);
    };
    let count = 0;
    fc.assert(
      fc.property(expression, identities, (selector, identity) => {
        const found = mended(selector);
        if (found === undefined) return;
        count += 1;
        const outcome = found === 'never' ? false : holds(found.text, identity);
        expect(outcome).to.equal(holds(selector, identity));
        if (found !== 'never' && found.text !== '')
          expect(selectorProblem(found.text, shape)).to.equal(undefined);
      }),
      { numRuns: 1000 },
    );
    expect(count).to.be.greaterThan(100);
  });

  it('are written where that is asked for', () => {
    const Config = { ClaimMappings: { sub: 'name' } };
    const Selector = 'value.nope == "x" or value.name == "a"';
    const binds = { AuthMethod: 'jwt', BindType: 'role', BindName: 'ops', ID: 'r-1' };
    const state = stateOf({
      AuthMethods: [{ Name: 'jwt', Type: 'jwt', Config }],
      BindingRules: [{ ...binds, Selector }],
    });
    const rules = (more: object) => {
      const { parts, findings } = converted(state, more);
      const items = parts.flatMap((part) => part.items);
      const written = items.filter(({ Type }) => Type === 'binding-rule');
      return { selectors: written.map(({ Object: one }) => one['Selector']), findings };
    };
    const shown = rules({});
    expect(shown.selectors).to.deep.equal([]);
    expect(shown.findings[0]).to.deep.include({ Mended: 'value.name == "a"', LeftOut: true });
    const { selectors, findings } = rules({ mend: true });
    expect(selectors).to.deep.equal(['value.name == "a"']);
    expect(findings[0]).to.deep.include({ Code: 'rules', LeftOut: false, Original: Selector });
  });
});
