/** The import law, circles of imports and the purity of the pure layers, checked as text. */
import { posix } from 'node:path';

/**
 * A layer imports layers of a lower rank, and itself. Layers of one rank do not import each other.
 */
const RANK: Record<string, number> = {
  base: 0,
  raft: 1,
  languages: 1,
  log: 1,
  acl: 2,
  kinds: 2,
  state: 3,
  api: 4,
  replica: 4,
  storage: 4,
  transport: 4,
  migrate: 5,
  node: 5,
  service: 6,
  cli: 6,
  http: 7,
  audit: 8,
  metrics: 8,
  config: 9,
  dev: 10,
  program: 11,
  ui: 11,
};
const PURE = ['raft', 'languages', 'acl', 'kinds', 'state', 'replica'];
/** The layers that http may not import. It gets their types from the service. */
const BELOW_SERVICE = ['node', 'replica', 'state', 'storage', 'raft', 'transport'];
/** Imports that the ranks permit, but this project does not. */
const FORBIDDEN: [from: string, to: string, why: string][] = [
  ...BELOW_SERVICE.map((layer): [string, string, string] => [
    'http',
    layer,
    'http is HTTP alone; use cases are in service',
  ]),
  ['storage', 'acl', 'the disk does not know what it stores'],
  ['transport', 'state', 'the wire does not know what it carries'],
];
/**
 * What the client may import besides itself: it knows the server by its API and by the schemas that
 * the build writes about it, but judges the rules in files by the server's own lint.
 */
const CLIENT_SEES = ['base', 'languages', 'acl', 'api', 'migrate'];
/** What a migration may import: it judges objects as a write does, but knows no state. */
const MIGRATE_SEES = ['base', 'languages', 'acl', 'kinds', 'api'];
/** What Node has and a browser has not. The types of the API bring those of Node to the pages. */
const OF_NODE = /\b(?:process|Buffer|setImmediate|require|__dirname|global)\b/;
/** Who may import the client: what names its commands and variables, and draws its tables. */
const SEES_CLIENT = ['config', 'dev', 'program'];
/** Effects that a pure layer must not have. What depends on them is passed in. */
const EFFECTS: [pattern: RegExp, what: string][] = [
  [/\bDate\.now\b|\bDate\(\s*\)/, 'the wall clock'],
  [/\bset(Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/, 'a timer'],
  [/\bPromise\b|\basync\b|\bawait\b/, 'a promise'],
  [/\bprocess\./, 'the process'],
  [/\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b/, 'chance'],
  [/\bperformance\./, 'a clock'],
  [/\bconsole\./, 'output'],
  [/\bfetch\(/, 'the network'],
];
const PURE_MODULES = new Set([
  'node:crypto',
  'node:zlib',
  'node:buffer',
  'node:assert',
  'node:net',
]);

/** Replaces comments by blanks, so that line numbers stay the same. */
function withoutComments(source: string): string {
  const blank = (all: string): string => all.replace(/[^\n]/g, ' ');
  return source.replace(
    /\/\*[\s\S]*?\*\/|(^|[^:'"`\\/])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g,
    (all, before: string | undefined) =>
      all.startsWith("'") || all.startsWith('"')
        ? all
        : (before ?? '') + blank(all.slice((before ?? '').length)),
  );
}
const withoutText = (source: string): string =>
  source.replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, (all) =>
    all.replace(/[^\n]/g, ' '),
  );

const layerOf = (path: string): string => (path.split('/')[1] ?? '').replace(/\.tsx?$/, '');
const lineOf = (source: string, offset: number): number =>
  source.slice(0, offset).split('\n').length;

const IMPORT = /(?:from|import)\s*\(?\s*'([^']+)'/g;

/** Whether an import takes nothing but types; `before` ends after its names. */
function isOfTypes(before: string): boolean {
  const names = before.slice(before.lastIndexOf('import'));
  return /^import\s+type\b/.test(names) || /^import\s*\{(?:\s*type\s+\w+,?)*\s*\}\s*$/.test(names);
}

/** Returns what breaks the laws in one file. `path` is relative to the root, with slashes. */
export function importProblems(path: string, text: string): string[] {
  const found: string[] = [];
  const layer = layerOf(path);
  const rank = RANK[layer];
  if (rank === undefined) return [`${path}: no layer named ${layer}`];
  const source = withoutComments(text);
  for (const match of source.matchAll(IMPORT)) {
    const target = match[1] ?? '';
    const at = `${path}:${lineOf(source, match.index)}`;
    if (target === 'node:http' && !isOfTypes(source.slice(0, match.index)))
      found.push(`${at}: take the values of node:http from base/node-http.ts, which tells why`);
    if (!target.startsWith('.')) {
      if (layer === 'ui' && target.startsWith('node:'))
        found.push(`${at}: ui runs in a browser and may not use ${target}`);
      if (PURE.includes(layer) && target.startsWith('node:') && !PURE_MODULES.has(target))
        found.push(`${at}: ${layer}/ is pure and may not use ${target}`);
      continue;
    }
    const other = layerOf(posix.join(posix.dirname(path), target).replace(/\.js$/, '.ts'));
    if (PURE.includes(layer) && target.endsWith('/base/works.js'))
      found.push(`${at}: base/works.ts reads a clock; name the work where ${layer} is called`);
    if (other === layer) continue;
    const rankOfOther = RANK[other];
    if (rankOfOther === undefined || rankOfOther >= rank)
      found.push(`${at}: ${layer} may not import ${other} (imports go one way)`);
    if (layer === 'ui' && other !== 'api' && !target.endsWith('/languages/suggest.js'))
      found.push(`${at}: ui may not import ${other}: it knows the server by its API alone`);
    if (layer === 'migrate' && !MIGRATE_SEES.includes(other))
      found.push(`${at}: migrate may not import ${other}: it belongs to the client`);
    if (layer === 'cli' && !CLIENT_SEES.includes(other))
      found.push(`${at}: cli may not import ${other}: it knows the server by its API alone`);
    if (other === 'cli' && !SEES_CLIENT.includes(layer))
      found.push(`${at}: ${layer} may not import cli: the server does not know its client`);
    for (const [from, to, why] of FORBIDDEN)
      if (from === layer && to === other)
        found.push(`${at}: ${layer} may not import ${other}: ${why}`);
  }
  const global = layer === 'ui' ? OF_NODE.exec(withoutText(source)) : null;
  if (global !== null)
    found.push(`${path}:${lineOf(source, global.index)}: ui has no ${global[0]} in a browser`);
  // A types.ts contains only types. A promise in an interface is an effect of its implementation.
  if (PURE.includes(layer) && !path.endsWith('types.ts')) {
    const bare = withoutText(source);
    for (const [pattern, what] of EFFECTS) {
      const match = pattern.exec(bare);
      if (match)
        found.push(
          `${path}:${lineOf(bare, match.index)}: ${layer}/ is pure and may not touch ${what}`,
        );
    }
  }
  return found;
}

/**
 * Returns the circles of imports, of types too: files of a circle can only be read, tested and
 * moved together. `files` has the text of every file by its path, relative to the root.
 */
export function circleProblems(files: ReadonlyMap<string, string>): string[] {
  const imports = new Map([...files].map(([path, text]) => [path, importsOf(path, text, files)]));
  return components(imports).map((circle) => {
    const [first] = circle;
    const others = circle.length > 2 ? `; ${circle.length} files import each other` : '';
    return `${first}: imports in a circle: ${shortest(imports, first).join(' -> ')}${others}`;
  });
}

/** Returns the files that a file imports. */
function importsOf(path: string, text: string, files: ReadonlyMap<string, string>): string[] {
  const targets = [...withoutComments(text).matchAll(IMPORT)].map(([, target = '']) => target);
  return targets
    .filter((target) => target.startsWith('.'))
    .flatMap((target) => {
      const base = posix.join(posix.dirname(path), target).replace(/\.js$/, '');
      return ['.ts', '.tsx', '.d.ts'].map((suffix) => base + suffix).filter((to) => files.has(to));
    });
}

type Circle = [string, ...string[]];

/** Returns the strongly connected components of more than one file, each sorted (Tarjan 1972). */
function components(imports: ReadonlyMap<string, readonly string[]>): Circle[] {
  const found: Circle[] = [];
  const orders = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string): number => {
    const order = orders.size;
    orders.set(path, order);
    open.push(path);
    let lowest = order;
    for (const to of imports.get(path) ?? []) {
      const known = orders.get(to);
      if (known === undefined) lowest = Math.min(lowest, visit(to));
      else if (open.includes(to)) lowest = Math.min(lowest, known);
    }
    if (lowest !== order) return lowest;
    const [first, ...others] = open.splice(open.indexOf(path)).sort();
    const isItself = imports.get(path)?.includes(path) === true;
    if (first !== undefined && (others.length > 0 || isItself)) found.push([first, ...others]);
    return lowest;
  };
  for (const path of imports.keys()) if (!orders.has(path)) visit(path);
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the shortest way from a file of a circle back to it. */
function shortest(imports: ReadonlyMap<string, readonly string[]>, start: string): string[] {
  const ways = [[start]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const to of imports.get(way.at(-1)!) ?? []) {
      if (to === start) return [...way, start];
      if (!seen.has(to)) ways.push([...way, to]);
      seen.add(to);
    }
  }
  return [start];
}
