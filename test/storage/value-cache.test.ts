import { expect } from 'chai';
import { ValueCache } from '../../src/storage/value-cache.js';

describe('storage: the value cache', () => {
  it('keeps values that are read again, and evicts the others', () => {
    const recent = new ValueCache(100);
    recent.set('hot', '1');
    recent.set('cold', '2');
    for (let i = 0; i < 100; i++) {
      recent.set(`k${i}`, 'x'.repeat(8));
      expect(recent.get('hot')).equal('1');
    }
    expect(recent.get('cold')).equal(undefined);
    expect(recent.get('k99')).equal('x'.repeat(8));
    expect(recent.get('k50')).equal(undefined);
  });

  it('keeps no more than its limit', () => {
    const recent = new ValueCache(100);
    const kept = (): number =>
      Array.from({ length: 200 }, (_, i) => `k${100 + i}`).filter(
        (key) => recent.get(key) !== undefined,
      ).length;
    for (let i = 0; i < 200; i++) recent.set(`k${100 + i}`, '123456');
    expect(kept()).within(5, 11);
  });

  it('forgets a changed value, whether recent or old', () => {
    const recent = new ValueCache(40);
    recent.set('old', '1');
    recent.set('filler', '0123456789012345');
    recent.set('young', '2');
    for (const key of ['old', 'young']) {
      recent.delete(key);
      expect(recent.get(key)).equal(undefined);
    }
    recent.set('young', '3');
    recent.clear();
    expect(recent.get('young')).equal(undefined);
    expect(recent.get('filler')).equal(undefined);
  });

  it('replaces what it has, whether recent or old', () => {
    const recent = new ValueCache(40);
    recent.set('old', '1');
    recent.set('filler', '0123456789012345');
    recent.set('young', '2');
    for (const key of ['old', 'young', 'missing']) recent.replace(key, `new ${key}`);
    expect(recent.get('old')).equal('new old');
    expect(recent.get('young')).equal('new young');
    expect(recent.get('missing')).equal(undefined);
  });

  it('keeps no more than its limit when values are replaced by longer ones', () => {
    const keys = Array.from({ length: 10 }, (_, i) => `k${i}`);
    const recent = new ValueCache(100);
    for (const key of keys) recent.set(key, '1');
    for (const key of keys) recent.replace(key, 'x'.repeat(30));
    const kept = keys.filter((key) => recent.get(key) !== undefined);
    expect(kept.length).within(1, 4);
  });
});
