import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SETTINGS } from '../../src/config/settings.js';

/** A row of a table: its cells, without the bars. */
type Row = readonly string[];

const rowsOf = (path: string): Row[] =>
  [...readFileSync(path, 'utf8').matchAll(/^\| (.*) \|$/gm)].map(([, row]) => row!.split(' | '));

/** Returns the value of a constant as `docs/settings.md` shows it, such as `64 * 1024`. */
function numberOf(text: string): number {
  const numbers = text
    .replaceAll('_', '')
    .split(/ \*\*? /)
    .map(Number);
  if (text.includes('**')) return text.includes(' * ') ? Number.NaN : numbers[0]! ** numbers[1]!;
  return numbers.reduce((product, each) => product * each, 1);
}

/** The ways in which the page may write a value. */
function spellings(value: number): string[] {
  const units = [
    ['Ki', 1024],
    ['KiB', 1024],
    ['MiB', 2 ** 20],
    ['s', 1000],
    ['minutes', 60_000],
  ] as const;
  const whole = units.filter(([, unit]) => value % unit === 0);
  return [
    value.toLocaleString('en-US'),
    ...whole.map(([name, unit]) => `${(value / unit).toLocaleString('en-US')} ${name}`),
  ];
}

describe('the limits of docs/capacity.md', () => {
  const values = new Map<string, number>();
  for (const { key, default: value } of SETTINGS)
    if (typeof value === 'number') values.set(key, value);
  for (const [name, value] of rowsOf('docs/settings.md')) {
    const constant = /^`(\w+)`$/.exec(name ?? '')?.[1];
    if (constant !== undefined) values.set(constant, numberOf(value!.replaceAll('`', '')));
  }

  it('are the settings and constants that it names', () => {
    let checked = 0;
    for (const [what, most, where = ''] of rowsOf('docs/capacity.md'))
      for (const [, name] of where.matchAll(/`([\w.]+)`/g)) {
        const value = values.get(name!);
        expect(value, name).to.be.a('number');
        const isThere = spellings(value!).some((text) =>
          new RegExp(`(?<![\\d,])${text}(?![\\d,]*\\d)`).test(most!),
        );
        expect(isThere, `${name} is ${value}, not "${most}" of ${what}`).to.equal(true);
        checked += 1;
      }
    expect(checked).to.be.greaterThan(30);
  });
});
