import { expect } from 'chai';
import fc from 'fast-check';
import { requestUriFault } from '../../src/kinds/request-uri.js';

const TAKEN = [
  ...['*', '/', '/jwks', '/a//b', '//host/p', 'urn:x', 'https://', 'https://h', 'x:'],
  ...['https://h/p#f', 'https://h?', 'https://h/?a=%zz', 'http://h:', 'http://h:80/p'],
  ...['http://user:secret@h/p', 'http://u%41@h', 'http://[::1]', 'http://[::1]:80/p', 'http://é/ö'],
  ...['http://[fe80::1%25en0]/', 'http://h%C3%A9/', 'mailto:a b', '/a b', '/%41', 'a+b-c.1:/x'],
];
const REFUSED = [
  ...['', 'x', 'h/p', ' https://h', 'https://h#f', '%zz', '://h', ':x', '1a://h', 'a_b://h'],
  ...['http://[', 'http://[::1]x', 'http://h:x', 'http://h:80:x', 'http://a b', 'http://h^/'],
  ...['/%', '/%4', '/%zz', 'http://h%41/', 'http://h%zz/', 'http://u^@h', 'http://u%@h'],
  ...['/a\nb', '/\u007f', '\u0000', '#', '?', 'http://h\\p'],
];

describe('kinds: URIs of requests', () => {
  for (const uri of TAKEN) {
    it(`are taken: ${JSON.stringify(uri)}`, () => {
      expect(requestUriFault(uri)).to.equal(undefined);
    });
  }
  for (const uri of REFUSED) {
    it(`are refused: ${JSON.stringify(uri)}`, () => {
      expect(requestUriFault(uri)).to.be.a('string');
    });
  }

  it('are taken whenever a URL of http is, as browsers write it', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: false }), (uri) => {
        expect(requestUriFault(uri)).to.equal(undefined);
      }),
    );
  });

  it('never make the check throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (uri) => void requestUriFault(uri)));
  });
});
