import { expect } from 'chai';
import { LONG_CHARS, SharedValues } from '../../src/storage/shared-values.js';

describe('storage: values shared by views', () => {
  const long = 'x'.repeat(LONG_CHARS);
  let reads: number;
  let values: SharedValues;
  beforeEach(() => {
    reads = 0;
    values = new SharedValues();
  });
  const get = (key: string, opened: number, value = long) => {
    const read = (): string => {
      reads += 1;
      return value;
    };
    return values.hasChanged(key, opened) ? read() : values.get(key, read);
  };

  it('are read once for all views', () => {
    for (let view = 0; view < 40; view += 1) expect(get('a', values.open())).to.equal(long);
    expect(reads).to.equal(1);
  });

  it('are read once for views before and after another key changed', () => {
    const before = values.open();
    values.noteChange('b');
    get('a', before);
    get('a', values.open());
    expect(reads).to.equal(1);
  });

  it('are not shared across a change of their key', () => {
    const before = values.open();
    get('a', before);
    values.noteChange('a');
    expect(get('a', before, 'old')).to.equal('old');
    expect(get('a', values.open(), `new${long}`)).to.equal(`new${long}`);
    expect(get('a', before, 'old')).to.equal('old');
    expect(reads).to.equal(4);
  });

  it('are shared only if they are long', () => {
    const view = values.open();
    get('a', view, 'short');
    get('a', view, 'short');
    expect(reads).to.equal(2);
  });
});
