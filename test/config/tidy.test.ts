import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { bannedWords, brokenReferences } from '../../scripts/tidy/documents.js';
import { beyond, type Finding, figures, lowered } from '../../scripts/tidy/findings.js';
import { idioms, longFile, longFunctions, undocumented, wide } from '../../scripts/tidy/habits.js';
import { readSources, type Source } from '../../scripts/tidy/sources.js';
import { unused, unusedMembers } from '../../scripts/tidy/usage.js';
import { unwrapped, wrapped } from '../../scripts/tidy/wrap.js';

/** Findings with their places, as text. */
const textOf = (findings: readonly Finding[]): string[] =>
  findings.map(({ at, message }) => `${at} ${message}`);

describe('tidy', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'conclave-tidy-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** A project with these files. */
  function project(files: Readonly<Record<string, string>>): Source[] {
    writeFileSync(join(root, 'tsconfig.json'), '{ "compilerOptions": { "noLib": true } }');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return readSources(root);
  }
  const only = (text: string): Source => project({ 'src/raft/a.ts': text })[0]!;

  it('finds exports and files that are unused, or used only by tests', () => {
    const sources = project({
      'src/program/main.ts':
        "import { used } from '../a.js';\nused();\nawait import('../lazy.js');\n",
      'src/a.ts':
        'export const used = () => own;\nexport const own = 1;\nexport const dead = 2;\n' +
        'export const probe = 3;\nexport interface Shape {}\nconst s: Shape = {};\n',
      'src/lazy.ts': "export * from './shown.js';\n",
      'src/shown.ts': 'export const shown = 1;\n',
      'src/twin.ts': 'export const twin = 1;\n',
      'test/a.test.ts':
        "import { probe } from '../src/a.js';\nimport { twin } from '../src/twin.js';\n",
      'test/lost.ts': 'export const lost = 1;\n',
    });
    expect(textOf(unused(sources, ['src/program/main.ts', 'test/a.test.ts']))).to.have.members([
      'src/a.ts:2 own: needless export',
      'src/a.ts:3 dead: unused export',
      'src/a.ts:4 probe: used by tests alone',
      'src/twin.ts used by tests alone: move it below test/',
      'test/lost.ts unused file',
    ]);
  });

  it('knows files of JSX by the names under which they are imported', () => {
    const sources = project({
      'src/ui/main.tsx': "import { used } from './part.js';\nused();\n",
      'src/ui/part.tsx': 'export const used = () => 1;\n',
      'src/ui/lost.tsx': 'export const lost = 1;\n',
    });
    expect(textOf(unused(sources, ['src/ui/main.ts']))).to.deep.equal([
      'src/ui/lost.ts unused file',
    ]);
  });

  it('follows programs that are started by their path', () => {
    const sources = project({
      'cluster/run.ts': "spawn(new URL('./preload.js', import.meta.url), 'dist/cluster/far.js');\n",
      'cluster/preload.ts': 'run();\n',
      'cluster/far.ts': 'run();\n',
    });
    expect(unused(sources, ['cluster/run.ts'])).to.deep.equal([]);
  });

  it('finds members that are never read', () => {
    const sources = project({
      'src/program/main.ts':
        'class A {\n  x = 1;\n  #y = 2;\n  get z() { return this.x; }\n  m() {}\n}\n' +
        'const { m } = new A();\nclass B extends A { called() {} }\n',
    });
    expect(textOf(unusedMembers(sources))).to.deep.equal([
      'src/program/main.ts:3 A.#y: nothing reads it',
      'src/program/main.ts:4 A.z: nothing reads it',
    ]);
  });

  it('finds wide lines in code and comments, long files and long functions', () => {
    const lines = (count: number): string => '  run();\n'.repeat(count);
    const source = only(
      `// ${'é'.repeat(98)}\n// ${'é'.repeat(97)}\nfunction long() {\n${lines(59)}}\n` +
        `const short = () => {\n${lines(58)}};\n${'\n'.repeat(280)}`,
    );
    expect(textOf(wide(source))).to.deep.equal(['src/raft/a.ts:1 101 characters, 100 at most']);
    expect(textOf(longFunctions(source))).to.deep.equal([
      'src/raft/a.ts:3 long: 61 lines, 60 at most',
    ]);
    expect(textOf(longFile(source))).to.deep.equal(['src/raft/a.ts 403 lines, 400 at most']);
  });

  it('finds exports without a doc comment, by layer', () => {
    const source = only(
      '/** Said. */\nexport const a = 1;\n// no doc\nexport const b = () => 1;\n',
    );
    expect(textOf(undocumented(source))).to.deep.equal(['src/raft/a.ts:4 b: no doc comment']);
    expect(figures(undocumented(source))).to.deep.equal({ undocumented: { 'src/raft': 1 } });
  });

  it('needs no doc comment where it would only repeat the name', () => {
    const [log] = project({
      'src/raft/log.ts':
        '/** A log. */\nexport interface LogOptions {}\nexport type LogParts = string;\n' +
        "export const ROLES = ['a'];\nexport type Role = (typeof ROLES)[number];\n" +
        'export const memberTable = defineObject();\nexport class Log {}\n' +
        "export type Name = Role['name'];\nexport const logRoutes = () => [];\n" +
        'export const LOG_BODY = bodyOf({});\n' +
        'export function addLog(parent: Command): void {}\n' +
        'export function isLog(one: unknown): one is Log {}\n' +
        'export const isRole = (one: unknown): one is Role => true;\n' +
        'export interface Entry {}\nexport const read = () => 1;\nexport const twoWords = 1;\n' +
        'export function addEntry(log: Log): void {}\nexport const routes = () => 1;\n',
    });
    expect(textOf(undocumented(log!)).map((text) => text.split(' ')[1])).to.deep.equal([
      'Entry:',
      'read:',
      'twoWords:',
      'addEntry:',
      'routes:',
    ]);
  });

  it('finds literals spread into literals, private members, any, and skipped tests', () => {
    const source = only(
      'const a = { ...{ b: 1 }, ...(a && { c: 1 }) };\nclass P { private q = 1; }\n' +
        "const x = a as any;\nit.only('', run);\ndescribe.skip('', run);\nqueue.skip();\n",
    );
    expect(textOf(idioms(source)).map((text) => text.split(':')[1])).to.deep.equal([
      ...['1 a literal spread into a literal', '2 the keyword private', '3 the type any'],
      '4 a test that is skipped, or that leaves out the others',
      '5 a test that is skipped, or that leaves out the others',
    ]);
  });

  it('finds banned words, dead links and source files that do not exist', () => {
    project({ 'src/raft/a.ts': '' });
    writeFileSync(join(root, 'other.md'), '# One title, `two` parts\n');
    const text = [
      '[a](other.md#one-title-two-parts) [b](other.md#none) [c](gone.md) [d](https://x.test/y)',
      'The rooms of `raft/a.ts` and `raft/b.ts`.',
    ].join('\n');
    expect(textOf(brokenReferences(root, 'doc.md', text))).to.deep.equal([
      'doc.md:1 other.md has no heading #none',
      'doc.md:1 there is no gone.md',
      'doc.md:2 there is no file raft/b.ts, nor src/raft/b.ts',
    ]);
    expect(textOf(bannedWords('doc.md', text))).to.deep.equal([
      'doc.md:2 "rooms": write layers, or modules',
    ]);
  });

  it('wraps prose, and leaves tables, code, headings and pictures alone', () => {
    const fixed = ['# A long heading', '', '| a | long | table |', '', '    long code, indented'];
    const lines = [
      ...[...fixed, '', '```sh', 'echo long code', '```', '![A long picture](a.png)', ''],
      ...['A sentence with `code in it` that is', 'long, and 2 - 1.', ''],
      ...['- an item that is long', '  1. nested', '', '> a quote', '> of two lines', ''],
    ];
    expect(wrapped(lines.join('\n'), 16).split('\n').slice(11)).to.deep.equal([
      ...['A sentence with', '`code in it`', 'that is long,', 'and 2 - 1.', ''],
      ...['- an item that', '  is long', '  1. nested', '', '> a quote of two', '> lines', ''],
    ]);
    expect(wrapped(lines.join('\n'), 16).split('\n').slice(0, 11)).to.deep.equal(
      lines.slice(0, 11),
    );
    expect(textOf(unwrapped('doc.md', 'One.\nTwo.\n'))).to.deep.equal([
      'doc.md:1 not wrapped: npm run format',
    ]);
    expect(unwrapped('doc.md', 'One.\n')).to.deep.equal([]);
  });

  describe('its ratchet', () => {
    const of = (rule: string, bucket: string, size?: number): Finding => {
      const finding = { rule, bucket, at: bucket, message: '' };
      return size === undefined ? finding : { ...finding, size };
    };
    const found = [of('width', 'a'), of('width', 'a'), of('lines', 'b', 500), of('lines', 'b', 9)];

    it('counts findings, and takes the largest size', () => {
      expect(figures(found)).to.deep.equal({ width: { a: 2 }, lines: { b: 500 } });
    });

    it('reports findings beyond the accepted figures', () => {
      expect(beyond(found, { width: { a: 2 }, lines: { b: 500 } })).to.deep.equal([]);
      expect(beyond(found, { width: { a: 1 }, lines: { b: 500 } })).to.deep.equal(
        found.slice(0, 2),
      );
      expect(beyond(found, { width: { a: 2 }, lines: { b: 499 } })).to.deep.equal(found.slice(2));
    });

    it('is lowered to the present figures, and never raised', () => {
      const accepted = { width: { a: 1, gone: 4 }, lines: { b: 600 }, none: { c: 1 } };
      expect(lowered(found, accepted)).to.deep.equal({ width: { a: 1 }, lines: { b: 500 } });
    });
  });
});
