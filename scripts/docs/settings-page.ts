/** docs/settings.md as text. */
import { envName, flagName } from '../../src/config/config.js';
import type { Setting } from '../../src/config/setting.js';
import { SETTINGS } from '../../src/config/settings.js';
import { type Constant, constantsOf } from './constants.js';

const HEAD = `# Settings

Written by \`npm run docs\` from \`src/config/settings.ts\` and the source; do not edit it.

A setting is a key of the JSON file (\`http.port\`), a variable (\`${envName('http.port')}\`) and a flag
(\`${flagName('http.port')}\`). A flag wins over a variable, and that over the file. Secrets are not taken as flags.
A list is written with commas in a variable or flag, a map as JSON. Times are in milliseconds where the key ends in \`Ms\`,
sizes in bytes where it ends in \`Bytes\`. \`conclave agent check\` prints what is in force.
`;

const CONSTANTS = `
## Constants

These limits are not settings: a wrong value would break a promise or a format, or nobody needs another one. Each is
listed with the comment that stands beside it.
`;

/** The page for the project in \`root\`. Throws if a limit in the source has no reason. */
export function settingsPage(root: string): string {
  const groups = new Map<string, Setting[]>();
  for (const setting of SETTINGS) {
    const group = setting.key.includes('.') ? setting.key.split('.')[0]! : 'node';
    groups.set(group, [...(groups.get(group) ?? []), setting]);
  }
  const settings = [...groups].map(([group, list]) => `\n## ${group}\n\n${settingsTable(list)}\n`);
  const names = SETTINGS.map(({ key }) => key.slice(key.lastIndexOf('.') + 1));
  const constants = [...constantsOf(root, new Set(names))]
    .filter(([, list]) => list.length > 0)
    .map(([layer, list]) => `\n### ${layer}\n\n${constantsTable(list)}\n`);
  return `${HEAD}${settings.join('')}${CONSTANTS}${constants.join('')}`;
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

function settingsTable(settings: readonly Setting[]): string {
  const rows = settings.map((setting) => [
    `\`${setting.key}\``,
    [setting.type, ...(setting.secret ? ['secret'] : [])].join(', '),
    defaultOf(setting),
    boundsOf(setting),
    setting.why,
  ]);
  return table(['key', 'type', 'default', 'bounds', 'what and why'], rows);
}

function defaultOf({ default: value, derived }: Setting): string {
  if (derived) return 'derived';
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}

function boundsOf({ min, max, choices, pattern }: Setting): string {
  if (choices !== undefined) return choices.map((choice) => `\`${choice}\``).join(', ');
  if (pattern !== undefined) return `\`${pattern}\``;
  const number = (value: number): string => value.toLocaleString('en-US');
  return min === undefined || max === undefined ? '' : `${number(min)} to ${number(max)}`;
}

function constantsTable(constants: readonly Constant[]): string {
  const rows = constants.map(({ name, value, reason, path }) => {
    if (reason === '') throw new Error(`${path}: ${name} has no comment that gives its reason`);
    return [`\`${name}\``, `\`${value.replace(/\s+/g, ' ')}\``, reason, `\`${path}\``];
  });
  return table(['constant', 'value', 'what and why', 'in'], rows);
}
