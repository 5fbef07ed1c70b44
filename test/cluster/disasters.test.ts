import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

/** A line of the document that quotes a test: its file and (part of) its title. */
const NAMED = /^- `(test\/[^`]+)`: “([^”]+)”$/;

describe('the tests listed for the eleven disasters', () => {
  const sections = readFileSync('docs/disasters.md', 'utf8').split(/^## /m).slice(1);

  it('cover eleven disasters', () => expect(sections).to.have.lengthOf(11));

  for (const section of sections) {
    // A wrapped item continues with two spaces.
    const [title, ...lines] = section.trim().replaceAll('\n  ', ' ').split('\n');
    it(`exist for ${title}`, () => {
      const tests = lines.filter((line) => line.startsWith('- '));
      expect(tests).not.to.have.lengthOf(0);
      for (const line of tests) {
        const [, file, name] = NAMED.exec(line) ?? [];
        if (file === undefined || name === undefined) throw new Error(`no test is named: ${line}`);
        expect(existsSync(file), file).to.equal(true);
        const titles =
          readFileSync(file, 'utf8').match(/\b(?:it|describe)\(\s*(['"`]).*?\1/g) ?? [];
        expect(
          titles.some((each) => each.includes(name)),
          line,
        ).to.equal(true);
      }
    });
  }
});
