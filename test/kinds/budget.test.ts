import { expect } from 'chai';
import { FILTER_LENGTH_MAX } from '../../src/kinds/budget.js';
import { decodeInSteps } from '../../src/kinds/decode.js';
import { ITEMS_MAX } from '../../src/languages/fields.js';
import { parseStrictJson } from '../../src/languages/json.js';
import { decodeEntry } from './decode-entry.js';

const IN_DEFAULT = { namespace: 'default' };
const refused = (body: object) => {
  const decoded = decodeEntry(body, IN_DEFAULT);
  if (decoded.ok) throw new Error('expected a refusal');
  return decoded.refusal;
};
const subsets = (count: number, subset: object = {}) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, subset]));
const resolver = (Subsets: object) => ({ Kind: 'service-resolver', Name: 'web', Subsets });
/** 30 terms, about 700 characters. */
const Filter = Array.from({ length: 30 }, (_, i) => `Service.Meta.v == a${i}`).join(' or ');

describe('kinds: what one entry may contain', () => {
  it('15,000 subsets are refused, with their position', () => {
    const { message, pointer } = refused(resolver(subsets(15_000)));
    expect(message).to.include(`'Subsets' has 15000 entries, at most ${ITEMS_MAX} are allowed`);
    expect(pointer).to.equal('/Subsets');
  });

  it('9000 listeners are refused, with their position', () => {
    const Listeners = Array.from({ length: 9000 }, (_, i) => ({ Port: i + 1 }));
    const { message, pointer } = refused({ Kind: 'ingress-gateway', Name: 'in', Listeners });
    expect(message).to.include(`'Listeners' has 9000 items, at most ${ITEMS_MAX} are allowed`);
    expect(pointer).to.equal('/Listeners');
  });

  it('1200 subsets with long filters are refused at the first filter beyond the budget', () => {
    const { message, pointer } = refused(resolver(subsets(1200, { Filter })));
    expect(message).to.include(`longer than ${FILTER_LENGTH_MAX} characters`);
    const fits = Math.floor(FILTER_LENGTH_MAX / Filter.length);
    const named = Object.keys(subsets(1200)).sort()[fits];
    expect(pointer).to.equal(`/Subsets/${named}/Filter`);
  });

  it('decoding pauses before each filter, so that other work gets its turn', () => {
    let pauses = 0;
    const steps = decodeInSteps(resolver(subsets(50, { Filter })), IN_DEFAULT);
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses += 1;
    expect(step.value.ok).to.equal(true);
    expect(pauses).to.be.at.least(50);
  });

  it('a body of hundreds of thousands of values is refused while it is parsed', () => {
    const text = JSON.stringify({ Policies: Array.from({ length: 300_000 }, () => ({})) });
    const parsed = parseStrictJson(text);
    expect(parsed.ok || parsed.problem.message).to.include('more than 30000 values');
    const keys = Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`k${i}`, 1]));
    expect(parseStrictJson(JSON.stringify(keys)).ok).to.equal(false);
  });

  it('the allowed number of items is accepted', () => {
    const decoded = decodeEntry(resolver(subsets(ITEMS_MAX)), IN_DEFAULT);
    expect(decoded.ok).to.equal(true);
  });
});
