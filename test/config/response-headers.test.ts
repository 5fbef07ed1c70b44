/** Headers that a node cannot send are refused at its start, not with each request. */
import { expect } from 'chai';
import { ConfigError, envName, loadConfig } from '../../src/config/config.js';

describe('config: http.responseHeaders', () => {
  const load = (headers: object) =>
    loadConfig({ env: { [envName('http.responseHeaders')]: JSON.stringify(headers) } });

  for (const [title, name, value] of [
    ['a value with a line break', 'X-Frame-Options', 'DENY\r\nX: y'],
    ['a value that is not of bytes', 'X-Motd', '\u2713'],
    ['a name that HTTP does not have', 'X Frame', 'DENY'],
    ['a header that says how a body is sent', 'content-length', '5'],
  ] as const)
    it(`refuses ${title}`, () => {
      expect(() => load({ [name]: value }))
        .to.throw(ConfigError)
        .with.property('faults')
        .that.satisfies(([fault]: readonly string[]) =>
          fault?.startsWith(`http.responseHeaders: "${name}" is not a header`),
        );
    });

  it('takes others', () => {
    const headers = { 'X-Frame-Options': 'DENY', 'Content-Security-Policy': "default-src 'self'" };
    expect(load(headers).http.responseHeaders).to.deep.equal(headers);
  });
});
