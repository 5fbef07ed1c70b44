import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** What reads a message of an error. */
const READS = [
  /\.message\s*\.(?:includes|match|replace|replaceAll|search|split|startsWith|endsWith)\(/,
  /\.(?:test|exec)\([^)]*\bmessage\)/,
];

/** Who may: what they read is written by others. */
const FOREIGN: Readonly<Record<string, string>> = {
  'src/cli/client/http.ts': 'OpenSSL',
  'src/cli/client/no-answer.ts': 'OpenSSL',
  'src/cli/commands/bootstrap.ts': 'Consul, whose sentence is part of the API',
  'src/storage/archive.ts': 'tar-stream',
};

const isReading = (text: string): boolean => READS.some((reads) => reads.test(text));

describe('the sentences of errors', () => {
  it('are read back by no program, but for those that others write', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join('src', file));
    const reading = files.filter((file) => isReading(readFileSync(file, 'utf8')));
    expect(reading.sort()).to.deep.equal(Object.keys(FOREIGN));
  });
});
