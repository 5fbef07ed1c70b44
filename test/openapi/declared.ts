/** Fails a test whose requests and answers are not as the OpenAPI document says. */
import { expect } from 'chai';
import { OPENAPI } from '../../src/api/documents.js';
import { Checker, type Exchange } from './checker.js';

const checker = new Checker(JSON.parse(OPENAPI.text));

/** Checks an exchange. Paths that only a test serves are left out. */
export function expectDeclared(exchange: Exchange): void {
  const found = checker.differences(exchange).filter((one) => !one.endsWith('is not declared'));
  expect(found.join('\n')).to.equal('');
}
