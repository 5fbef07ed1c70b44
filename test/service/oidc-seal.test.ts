import { expect } from 'chai';
import { newKey } from '../../src/service/oidc/logins.js';
import { seal, unseal } from '../../src/service/oidc/seal.js';

describe('what a client keeps of an OIDC login', () => {
  const keys = { Key: newKey(), ModifyIndex: 1 };
  const value = { nonce: 'a secret of the login' };

  it('can be read with the key, and hides what it holds', () => {
    const text = seal(keys, 'state', value);
    expect(text).to.match(/^[\w-]+$/);
    expect(Buffer.from(text, 'base64url').toString('latin1')).not.to.include('secret');
    expect(unseal(keys, 'state', text)).to.deep.equal(value);
    expect(seal(keys, 'state', value)).not.to.equal(text);
  });

  it('cannot be used for another purpose', () => {
    expect(unseal(keys, 'renewal', seal(keys, 'state', value))).to.equal(undefined);
  });

  it('can be read with the key before, and not with an older one', () => {
    const text = seal(keys, 'state', value);
    const once = { Key: newKey(), Before: keys.Key, ModifyIndex: 2 };
    expect(unseal(once, 'state', text)).to.deep.equal(value);
    const twice = { Key: newKey(), Before: once.Key, ModifyIndex: 3 };
    expect(unseal(twice, 'state', text)).to.equal(undefined);
  });

  it('is refused if any bit of it is changed, or if it is spelled otherwise', () => {
    const text = seal(keys, 'state', value);
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length * 8; at++) {
      const changed = Buffer.from(bytes);
      changed[at >> 3]! ^= 1 << (at & 7);
      expect(unseal(keys, 'state', changed.toString('base64url'))).to.equal(undefined);
    }
    // A decoder of base64 skips what is none of it, and the spare bits of the last character.
    const shift = (character: string): string => String.fromCharCode(character.charCodeAt(0) + 1);
    const last = text.slice(0, -1) + shift(text.at(-1)!);
    for (const other of [`${text}=`, `${text} `, ` ${text}`, `${text}\n`, last, '', 'x'])
      expect(unseal(keys, 'state', other)).to.equal(undefined);
    expect(unseal(keys, 'state', text.slice(0, 20))).to.equal(undefined);
  });
});
