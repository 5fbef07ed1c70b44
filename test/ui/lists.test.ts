/** What is typed into the filter of a list. */
import { expect } from 'chai';
import { narrowing } from '../../src/ui/lists/filter.js';

describe('ui: the filter', () => {
  it('looks for words, whatever they mean elsewhere', () => {
    expect(narrowing('  ')).to.deep.equal({});
    expect(narrowing(' web a.b"c\\ ')).to.deep.equal({ search: 'web a.b"c\\' });
  });

  it('passes an expression on', () => {
    for (const typed of ['Name == "web"', '"x" in Name', 'Policies is not empty'])
      expect(narrowing(typed)).to.deep.equal({ filter: typed });
  });
});
