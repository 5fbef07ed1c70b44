import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { load } from '../../scripts/counting-hooks.js';
import { counters } from './counters.js';

const pathOf = (file: string): string =>
  fileURLToPath(new URL(`../../src/${file}`, import.meta.url));

describe('counters of what worlds meet', () => {
  for (const { name, file, before } of counters)
    it(`can count: ${name}`, () => {
      const parts = readFileSync(pathOf(file), 'utf8').split(before);
      expect(parts.length - 1).to.equal(1);
      // there a statement may be added: it is not the only one of a loop or a condition
      expect(parts[0]!.trimEnd()).to.match(/[;{}]$|\*\/$/);
    });

  it('are put into the modules that are loaded, and into no others', async () => {
    const loaded = async (url: string, source: string): Promise<string> => {
      const next = async () => ({ format: 'module' as const, source });
      const context = {
        format: 'module' as const,
        conditions: [],
        importAttributes: {},
        importAssertions: {},
      };
      return String((await load(url, context, next)).source);
    };
    const { name, file, before } = counters[0]!;
    const text = `a();\n${before}\nb();`;
    const counted = await loaded(`file:///x/dist/src/${file}`, text);
    expect(counted)
      .to.include(`simulationCounts[${JSON.stringify(name)}]++`)
      .and.include(before);
    expect(await loaded('file:///x/dist/src/other.js', text)).to.equal(text);
  });
});
