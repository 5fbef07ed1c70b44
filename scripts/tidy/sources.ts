/** The source files of the project as the TypeScript compiler parses them. */
import { relative, resolve, sep } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** One source file. */
export interface Source {
  /** Relative to the root of the project, with `/`. */
  readonly path: string;
  readonly file: SourceFile;
}

/** Parses every file that a `tsconfig.json` names, by default that in `root`. */
export function readSources(root: string, config = 'tsconfig.json'): Source[] {
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: resolve(root, config) });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error(`there is no project in ${root}`);
    const sources: Source[] = [];
    for (const name of project.rootFiles) {
      if (name.endsWith('.d.ts')) continue;
      const file = project.program.getSourceFile(name);
      if (file === undefined) throw new Error(`${name} was not parsed`);
      const path = relative(root, name).split(sep).join('/');
      sources.push({ path, file });
    }
    return sources.sort((a, b) => (a.path < b.path ? -1 : 1));
  } finally {
    api.close();
  }
}

/** Calls `visit` with every node below `node`, parents first, `node` itself included. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  node.forEachChild((child) => {
    walk(child, visit);
    return undefined;
  });
}

/** Returns the place of a node as `path:line`. */
export function placeOf({ path, file }: Source, node: Node): string {
  const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return `${path}:${line + 1}`;
}

/** Returns the bucket of a file in a ratchet: `src/raft`, `src` for its top level, `test`. */
export function layerOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'src' && !second.endsWith('.ts') ? `src/${second}` : first;
}
