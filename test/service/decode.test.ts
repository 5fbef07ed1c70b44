import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import {
  anyObject,
  bodyOf,
  boolean,
  computed,
  ifSent,
  items,
  labels,
  text,
  timeToLive,
  utcTime,
  whole64,
} from '../../src/languages/fields.js';
import { normalTime, timeOf } from '../../src/languages/times.js';
import { decodeBody } from '../../src/service/common/decode.js';
import { templateVariables } from '../../src/state/grants.js';

const FIELDS = {
  Name: ifSent('A member.', text()),
  Count: ifSent('A member.', whole64),
  On: ifSent('A member.', boolean),
  Life: ifSent('A member.', timeToLive),
  At: ifSent('A member.', utcTime),
  Links: ifSent('A member.', items(bodyOf({ ID: ifSent('A member.', text()) }))),
  Meta: ifSent('A member.', labels),
  Config: ifSent('A member.', anyObject),
  Variables: ifSent('A member.', templateVariables),
  Hash: ifSent('A member.', computed(text())),
};
const decode = (body: unknown) => decodeBody('Thing decoding failed', body, bodyOf(FIELDS));
function refusalOf(body: unknown) {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof ApiError) return error.refusal;
    throw error;
  }
  throw new Error('was not refused');
}

describe('bodies', () => {
  it('become typed values; null and absent mean the same in every field', () => {
    const nulls = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, null]));
    expect(decode(nulls)).to.deep.equal({});
    expect(decode(null)).to.deep.equal({});
    expect(decode({ Life: '1m30s', At: '2030-01-01T02:00:00.500+02:00', Hash: [1] })).to.deep.equal(
      {
        Life: 90e9,
        At: '2030-01-01T00:00:00.5Z',
        Hash: undefined,
      },
    );
    expect(decode({ Variables: { Name: 'x' } }).Variables).to.deep.equal({ name: 'x' });
  });

  it('are refused with the unknown field, its place, and the likely name', () => {
    expect(refusalOf({ name: 'x' })).to.deep.include({
      message: 'Thing decoding failed: json: unknown field "name"; did you mean "Name"?',
      pointer: '/name',
    });
    const nested = refusalOf({ Links: [{ ID: 'a' }, { Id: 'b' }] });
    expect(nested).to.deep.include({ pointer: '/Links/1/Id' });
    expect(nested.message).to.match(/unknown field "Id" at \/Links\/1; did you mean "ID"/);
    expect(refusalOf({ 'a/b~': 1 }).pointer).to.equal('/a~1b~0');
  });

  it('are refused with what a field must contain', () => {
    const cases: [unknown, string, RegExp][] = [
      [{ Name: 1 }, '/Name', /expected a string, not a number at \/Name/],
      [{ Count: 1.5 }, '/Count', /expected a whole number/],
      [{ Count: '1' }, '/Count', /expected a whole number, not a string/],
      [{ On: 'true' }, '/On', /expected true or false, not a string/],
      [{ Life: 'x' }, '/Life', /duration/],
      [{ Life: 1.5 }, '/Life', /duration/],
      [{ At: '2030-02-30T00:00:00Z' }, '/At', /expected a time/],
      [{ Links: {} }, '/Links', /expected a list, not an object/],
      [{ Links: [null] }, '/Links/0', /expected an object, not null/],
      [{ Meta: { a: 1 } }, '/Meta/a', /expected a string/],
      [{ Config: [] }, '/Config', /expected an object, not a list/],
      [{ Variables: { Name: 'a', name: 'b' } }, '/Variables', /both "Name" and "name"/],
      [[], '', /expected an object, not a list/],
      ['x', '', /expected an object, not a string/],
    ];
    for (const [body, pointer, message] of cases) {
      const why = refusalOf(body);
      expect(why, JSON.stringify(body)).to.include({ code: 'invalid', pointer });
      expect(why.message).to.match(message);
    }
  });

  it('with member names like those of built-in objects are refused as unknown', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const body = JSON.parse(`{${JSON.stringify(name)}:"x"}`);
      expect(refusalOf(body).message).to.include(`unknown field ${JSON.stringify(name)}`);
      expect(Object.keys(decode({ Meta: body }).Meta!)).to.deep.equal([name]);
    }
  });
});

describe('times', () => {
  it('have one normal form', () => {
    const forms: [string, string | undefined][] = [
      ['2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z'],
      ['2030-01-01T00:00:00.000Z', '2030-01-01T00:00:00Z'],
      ['2030-01-01T00:00:00.120Z', '2030-01-01T00:00:00.12Z'],
      ['2030-01-01T00:00:00.123456789Z', '2030-01-01T00:00:00.123456789Z'],
      ['2030-01-01T00:00:00-01:30', '2030-01-01T01:30:00Z'],
      ['2030-13-01T00:00:00Z', undefined],
      ['2030-01-01', undefined],
      ['2030-01-01T00:00:00', undefined],
      ['2030-01-01T25:00:00Z', undefined],
      ['9999-12-31T23:59:59-01:00', undefined],
      ['0000-01-01T00:00:00+01:00', undefined],
      ['tomorrow', undefined],
    ];
    for (const [given, normal] of forms) expect(normalTime(given), given).to.equal(normal);
    expect(timeOf(Date.parse('2030-01-01T00:00:00.5Z'))).to.equal('2030-01-01T00:00:00.5Z');
  });

  it('has a limit for lists', () => {
    const links = (count: number) => ({
      Links: Array.from({ length: count }, () => ({ ID: 'x' })),
    });
    expect(decode(links(2_000)).Links).to.have.lengthOf(2_000);
    expect(() => decode(links(2_001))).to.throw(ApiError, /2001 items, at most 2000.* at \/Links/);
  });
});
