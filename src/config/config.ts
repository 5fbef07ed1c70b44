/**
 * Reads and checks the configuration of a node: a JSON file, and environment variables and flags
 * for the same settings.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ErrorObject } from 'ajv';
import { sinkFaults } from '../audit/settings.js';
import { validateSettings } from '../base/validators.js';
import { VARIABLES } from '../cli/client/variables.js';
import { changesBetween, nearestOf } from '../languages/suggest.js';
import type { InitialMember } from '../node/identity.js';
import { crossFaults } from './rules.js';
import { MEMBER, type Setting } from './setting.js';
import { type ConfigOfSettings, SETTINGS } from './settings.js';

/** A checked configuration. Times in milliseconds, sizes in bytes; see settings.ts for each. */
export type Config = ConfigOfSettings;

/** The faults of a configuration. The message has a line for each, which begins with its key. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const words = (key: string): string => key.replace(/([A-Z])/g, '.$1').replaceAll('.', '_');
/** Returns the environment variable of a setting: `http.port` → `CONCLAVE_HTTP_PORT`. */
export const envName = (key: string): string => `CONCLAVE_${words(key).toUpperCase()}`;
/** Returns the flag of a setting: `http.port` → `--http-port`. */
export const flagName = (key: string): string =>
  `--${words(key).replaceAll('_', '-').toLowerCase()}`;

type Tree = Record<string, unknown>;

/** The sources of values. Later ones win: file, environment, flags (by key). */
export interface Sources {
  readonly file?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Reads and checks a configuration. Throws ConfigError with every fault found. */
export function loadConfig(sources: Sources): Config {
  const tree = sources.file === undefined ? {} : readFile(sources.file);
  const faults: string[] = [];
  for (const setting of SETTINGS) {
    const variable = sources.env?.[envName(setting.key)];
    const flag = sources.flags?.[setting.key];
    const text = flag ?? (variable === '' ? undefined : variable);
    if (text === undefined) continue;
    if (flag !== undefined && setting.secret === true) {
      faults.push(secretAsFlag(setting));
      continue;
    }
    const value = fromText(setting, text);
    if (value === undefined)
      faults.push(
        `${setting.key}: ${flag === undefined ? envName(setting.key) : flagName(setting.key)} cannot be read as ${setting.type}`,
      );
    else put(tree, setting.key, value);
  }
  faults.push(...mistyped(sources.env ?? {}), ...schemaFaults(tree));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = withDefaults(tree);
  const crossed = [...crossFaults(config), ...sinkFaults(config.audit.sinks)];
  if (crossed.length > 0) throw new ConfigError(crossed);
  return config;
}

const secretAsFlag = ({ key }: Setting): string =>
  `${key}: is a secret, and every user of this machine can read the flags of a process; set ${envName(key)}, ` +
  `or ${key} in the configuration file, or name a file that holds it (${key}File)`;

/** Largest edit distance at which an unknown variable counts as a mistyped setting. */
const MISTYPED_MAX = 3;
/** Variables of the client, which a shell may have set where a node is started. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(Object.values(VARIABLES).flat());

/**
 * Returns a fault for each variable that nearly names a setting. Ignores others, because container
 * platforms set variables named after a service.
 */
function mistyped(env: NonNullable<Sources['env']>): string[] {
  const known = SETTINGS.map(({ key }) => envName(key));
  return Object.keys(env)
    .filter((name) => name.startsWith('CONCLAVE_') && !OTHER_VARIABLES.has(name))
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const near = nearestOf(name, known);
      if (near === undefined || changesBetween(name, near) > MISTYPED_MAX) return [];
      return `${name}: there is no such variable; did you mean ${near}?`;
    });
}

function readFile(path: string): Tree {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`]);
  }
  try {
    const tree: unknown = JSON.parse(text);
    if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) return tree as Tree;
    throw new Error('expected a JSON object');
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`]);
  }
}

function put(tree: Tree, key: string, value: unknown): void {
  const path = key.split('.');
  const last = path.pop()!;
  let at = tree;
  for (const part of path) {
    if (typeof at[part] !== 'object' || at[part] === null) at[part] = {};
    at = at[part] as Tree;
  }
  at[last] = value;
}

function get(tree: Tree, key: string): unknown {
  let at: unknown = tree;
  for (const part of key.split('.')) at = (at as Tree | undefined)?.[part];
  return at;
}

/** Parses the text of a value. Returns undefined if it does not have the type of the setting. */
function fromText(setting: Setting, text: string): unknown {
  switch (setting.type) {
    case 'text':
      return text;
    case 'integer':
      return /^\d+$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return { true: true, '1': true, false: false, '0': false }[text];
    case 'list':
    case 'members':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case 'map':
    case 'sinks':
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
  }
}

/** Parses a member, `name=host:port`. Throws Error for anything else. */
export function memberOf(text: string): InitialMember {
  const [, name, address] = MEMBER.exec(text) ?? [];
  if (name === undefined || address === undefined)
    throw new Error(`"${text}" is not a member: expected name=host:port`);
  return { name, address };
}

/** How the words of a schema are said to people. */
const IN_WORDS: Readonly<Record<string, string>> = {
  '<=': 'at most',
  '>=': 'at least',
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  object: 'an object',
  string: 'a string',
};

function schemaFaults(tree: Tree): string[] {
  if (validateSettings(tree)) return [];
  return (validateSettings.errors ?? []).map((error) => {
    const key = error.instancePath.slice(1).replaceAll('/', '.');
    if (error.keyword === 'additionalProperties') return unknownKey(key, error);
    const setting = SETTINGS.find((s) => key === s.key || key.startsWith(`${s.key}.`));
    const allowed =
      error.keyword === 'enum' ? `: ${error.params['allowedValues'].join(' or ')}` : '';
    const isMember = error.keyword === 'pattern' && setting?.type === 'members';
    const words = error.message?.replace(/(?<=^must be )\S+/, (word) => IN_WORDS[word] ?? word);
    const message = isMember ? 'must be name=host:port' : `${words}${allowed}`;
    return `${key || 'the configuration'}: ${message}${setting ? ` (${setting.why})` : ''}`;
  });
}

function unknownKey(parent: string, error: ErrorObject): string {
  const name = (error.params as { additionalProperty: string }).additionalProperty;
  const key = parent === '' ? name : `${parent}.${name}`;
  const known = SETTINGS.flatMap(({ key: k }) => [
    k,
    ...(k.includes('.') ? [k.split('.')[0]!] : []),
  ]);
  const near = nearestOf(key, known);
  return `${key}: there is no such setting${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function withDefaults(tree: Tree): Config {
  const full: Tree = {};
  for (const { key, default: value } of SETTINGS) {
    const given = get(tree, key) ?? value;
    if (given !== undefined) put(full, key, given);
  }
  full['nodeName'] ??= hostname();
  const cluster = full['cluster'] as { initial: unknown };
  cluster.initial = (cluster.initial as readonly string[]).map(memberOf);
  // The schema has checked the type, except for TLS files that belong together; `crossFaults` does.
  const config = full as unknown as Config;
  return {
    ...config,
    raft: {
      ...config.raft,
      advertise: config.raft.advertise ?? addressOf(config.raft),
    },
  };
}

/** Returns host and port as one address, with brackets around an IPv6 address. */
export const addressOf = ({ host, port }: { host: string; port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
