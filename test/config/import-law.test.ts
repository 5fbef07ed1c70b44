import { expect } from 'chai';
import { circleProblems, importProblems } from '../../scripts/import-law.js';

const problems = (path: string, from: string): string[] =>
  importProblems(path, `import type { A } from '${from}';\n`);

describe('the import law', () => {
  for (const layer of ['node', 'replica', 'state', 'storage', 'raft', 'transport'])
    it(`keeps http from ${layer}`, () => {
      const why = 'http is HTTP alone; use cases are in service';
      expect(problems('src/http/routes/status.ts', `../../${layer}/types.js`)).to.deep.equal([
        `src/http/routes/status.ts:1: http may not import ${layer}: ${why}`,
      ]);
    });

  it('lets http import the service, the errors and the languages', () => {
    for (const from of [
      '../../service/common/types.js',
      '../../base/errors.js',
      '../../languages/json.js',
      './types.js',
    ])
      expect(problems('src/http/routes/status.ts', from), from).to.deep.equal([]);
  });

  it('keeps client and server apart', () => {
    expect(problems('src/cli/client/http.ts', '../../base/errors.js')).to.deep.equal([]);
    expect(problems('src/cli/commands/lint.ts', '../../acl/lint/policy.js')).to.deep.equal([]);
    expect(problems('src/acl/lint/policy.ts', '../../cli/io.js')).to.have.lengthOf(2);
    expect(problems('src/cli/client/http.ts', '../../raft/types.js')).to.deep.equal([
      'src/cli/client/http.ts:1: cli may not import raft: it knows the server by its API alone',
    ]);
    const wrong = 'src/service/cluster/status.ts:1: service may not import cli';
    expect(problems('src/service/cluster/status.ts', '../../cli/io.js')).to.deep.equal([
      `${wrong} (imports go one way)`,
      `${wrong}: the server does not know its client`,
    ]);
  });

  it('keeps the web UI by itself', () => {
    expect(problems('src/ui/pages/login.tsx', '../texts.js')).to.deep.equal([]);
    expect(problems('src/ui/main.tsx', '../base/errors.js')).to.deep.equal([
      'src/ui/main.tsx:1: ui may not import base: it knows the server by its API alone',
    ]);
    expect(problems('src/ui/main.tsx', 'node:fs')).to.deep.equal([
      'src/ui/main.tsx:1: ui runs in a browser and may not use node:fs',
    ]);
    expect(importProblems('src/ui/main.tsx', 'const n = Buffer.byteLength(x);')).to.deep.equal([
      'src/ui/main.tsx:1: ui has no Buffer in a browser',
    ]);
    expect(problems('src/program/main.ts', '../ui/main.js')).to.have.lengthOf(1);
  });

  it('lets imports go one way', () => {
    expect(problems('src/service/cluster/status.ts', '../../node/types.js')).to.deep.equal([]);
    expect(problems('src/node/status.ts', '../service/common/types.js')).to.deep.equal([
      'src/node/status.ts:1: node may not import service (imports go one way)',
    ]);
    expect(problems('src/state/keys.ts', '../storage/types.js')).to.have.lengthOf(1);
  });

  it('keeps the clock of named work from the pure layers', () => {
    expect(problems('src/service/cluster/status.ts', '../../base/works.js')).to.deep.equal([]);
    expect(problems('src/replica/loop.ts', '../base/works.js')).to.deep.equal([
      'src/replica/loop.ts:1: base/works.ts reads a clock; name the work where replica is called',
    ]);
  });

  it('knows every layer', () => {
    expect(problems('src/other/a.ts', '../base/errors.js')).to.deep.equal([
      'src/other/a.ts: no layer named other',
    ]);
  });

  it('keeps effects out of the pure layers', () => {
    const clock = 'export const nowMs = () => Date.now();\n';
    expect(importProblems('src/state/machine.ts', clock)).to.deep.equal([
      'src/state/machine.ts:1: state/ is pure and may not touch the wall clock',
    ]);
    expect(importProblems('src/service/times.ts', clock)).to.deep.equal([]);
    expect(problems('src/raft/raft.ts', 'node:fs')).to.have.lengthOf(1);
  });

  it('lets only types be imported from node:http', () => {
    const from = (clause: string): string[] =>
      importProblems('src/http/listener/listener.ts', `import ${clause} from 'node:http';\n`);
    const why = 'take the values of node:http from base/node-http.ts, which tells why';
    expect(from('{ type Server, createServer }')).to.deep.equal([
      `src/http/listener/listener.ts:1: ${why}`,
    ]);
    expect(from('http')).to.have.lengthOf(1);
    expect(from('type { Server }')).to.deep.equal([]);
    expect(from('{ type IncomingMessage, type Server }')).to.deep.equal([]);
  });

  it('reads neither comments nor text', () => {
    const text = "// import type { A } from '../node/types.js'\nconst said = 'Date.now()';\n";
    expect(importProblems('src/http/routes/status.ts', text)).to.deep.equal([]);
    expect(importProblems('src/raft/raft.ts', text)).to.deep.equal([]);
  });

  describe('circles of imports', () => {
    const circles = (files: Record<string, string>): string[] =>
      circleProblems(new Map(Object.entries(files)));

    it('permits what imports go one way', () => {
      const files = {
        'src/raft/raft.ts': "import { a } from './log.js';\nimport { b } from './types.js';\n",
        'src/raft/log.ts': "import { b } from './types.js';\nimport 'node:fs';\n",
        'src/raft/types.ts': "// import { a } from './raft.js';\n",
      };
      expect(circles(files)).to.deep.equal([]);
    });

    it('finds circles of types, declarations and components', () => {
      const files = {
        'src/ui/a.tsx': "import type { B } from './parts/b.js';\n",
        'src/ui/parts/b.ts': "import { type A } from '../a.js';\n",
        'src/languages/hil.ts': "import { parse } from './hil.peggy.js';\n",
        'src/languages/hil.peggy.d.ts': "export type T = import('./hil.js').T;\n",
      };
      expect(circles(files)).to.deep.equal([
        'src/languages/hil.peggy.d.ts: imports in a circle: ' +
          'src/languages/hil.peggy.d.ts -> src/languages/hil.ts -> src/languages/hil.peggy.d.ts',
        'src/ui/a.tsx: imports in a circle: src/ui/a.tsx -> src/ui/parts/b.ts -> src/ui/a.tsx',
      ]);
    });

    it('shows the shortest circle of a file, and how many files belong to it', () => {
      const files = {
        'src/state/a.ts': "import { b } from './b.js';\n",
        'src/state/b.ts': "import { c } from './c.js';\nimport { d } from './d.js';\n",
        'src/state/c.ts': "import { d } from './d.js';\n",
        'src/state/d.ts': "import { a } from './a.js';\n",
        'src/state/e.ts': "import { a } from './a.js';\n",
      };
      expect(circles(files)).to.deep.equal([
        'src/state/a.ts: imports in a circle: src/state/a.ts -> src/state/b.ts -> ' +
          'src/state/d.ts -> src/state/a.ts; 4 files import each other',
      ]);
    });

    it('finds a file that imports itself', () => {
      expect(circles({ 'src/log/a.ts': "import { b } from './a.js';\n" })).to.deep.equal([
        'src/log/a.ts: imports in a circle: src/log/a.ts -> src/log/a.ts',
      ]);
    });
  });
});
