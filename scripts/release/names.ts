/** The public names of a release, read from the documents that `npm run docs` writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from '../glob.js';

/**
 * Names by what they are. One may list others that belong to it: `acl token read: --id --meta`,
 * the options of a command.
 */
export type Names = Readonly<Record<string, readonly string[]>>;

/** What is kept of the last release. */
export interface Release {
  readonly version: string;
  /** Lines of `src` by layer. */
  readonly lines: Readonly<Record<string, number>>;
  /**
   * Why names are gone on purpose, by the name or its end: `--watch` is that option of every
   * command.
   */
  readonly removed: Readonly<Record<string, string>>;
  readonly names: Names;
}

/** Returns the public names of the project in `root`. */
export function publicNames(root: string): Names {
  const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');
  return {
    endpoint: endpointsOf(page('reference.md')),
    setting: settingsOf(page('settings.md')),
    command: commandsOf(page('cli.md')),
    metric: metricsOf(join(root, 'src/metrics')),
    event: rowsOf(page('log.md')).map(([name = '']) => name),
  };
}

/** Returns the cells of the rows that begin with code, and that code without its quotes. */
const rowsOf = (page: string): string[][] =>
  [...page.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name = '', rest = '']) => [
    name,
    ...rest.split(' | '),
  ]);

const withList = (name: string, list: readonly string[]): string =>
  list.length === 0 ? name : `${name}: ${list.join(' ')}`;

const endpointsOf = (page: string): string[] =>
  rowsOf(page)
    .filter(([name = '']) => /^[A-Z]+ \//.test(name))
    .map(([name = '', ...cells]) => {
      const query = (cells.at(-1) ?? '').matchAll(/`([^`]+)`/g);
      return withList(
        name,
        [...query].map(([, one = '']) => one),
      );
    });

const settingsOf = (page: string): string[] =>
  rowsOf(page.split('\n## Constants')[0] ?? '').map(([key = '']) => key);

const commandsOf = (page: string): string[] => {
  const [head = '', ...sections] = page.split(/^### conclave/m);
  const options = (text: string): string[] =>
    rowsOf(text).flatMap(([flags = '']) => flags.match(/--[\w-]+/g) ?? []);
  return [
    withList('conclave', options(head.split('## Options of all commands')[1] ?? '')),
    ...sections.map((section) => {
      const path = /^(?: [a-z][\w-]*)+/.exec(section)?.[0] ?? '';
      return withList(`conclave${path}`, options(section));
    }),
  ];
};

const metricsOf = (folder: string): string[] => [
  ...new Set(
    globSync(folder, '.ts').flatMap(
      (path) => readFileSync(path, 'utf8').match(/\bconclave_[a-z_]+/g) ?? [],
    ),
  ),
];

/** Returns the names as `setting http.port` and `command conclave health --wait`. */
export const flat = (names: Names): Set<string> =>
  new Set(
    Object.entries(names).flatMap(([what, list]) =>
      list.flatMap((one) => {
        const [name = '', below] = one.split(': ');
        const each = below === undefined ? [] : below.split(' ').map((part) => `${name} ${part}`);
        return [name, ...each].map((whole) => `${what} ${whole}`);
      }),
    ),
  );

/** Returns what of a release is gone without a reason, and reasons for what is not gone. */
export function missingNames({ version, names, removed }: Release, now: Names): string[] {
  const present = flat(now);
  const gone = [...flat(names)].filter((name) => !present.has(name));
  const reasons = Object.keys(removed);
  const isNamedBy = (reason: string, name: string): boolean => ` ${name}`.endsWith(` ${reason}`);
  return [
    ...gone
      .filter((name) => !reasons.some((reason) => isNamedBy(reason, name)))
      .map((name) => `${name} of ${version} is gone: keep it, or give a reason in "removed"`),
    ...reasons
      .filter((reason) => !gone.some((name) => isNamedBy(reason, name)))
      .map(
        (reason) => `${reason} is listed as removed, but is not a name of ${version} that is gone`,
      ),
  ];
}
