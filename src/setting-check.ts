/** Checks the values of a configuration against the settings. */
import { closest, distance } from 'fastest-levenshtein';
import type { Setting } from './setting.js';
import { SETTINGS } from './settings.js';

/** A configuration as it was read: one member for each part of a key. */
export type Tree = Record<string, unknown>;

/** A member as it is written: `name=host:port`. */
export const MEMBER = /^([a-zA-Z0-9][a-zA-Z0-9._-]*)=(.+:\d+)$/;
/** Largest edit distance at which an unknown key counts as a mistyped one. */
const MISTYPED_MAX = 4;

const BY_KEY: ReadonlyMap<string, Setting> = new Map(SETTINGS.map((each) => [each.key, each]));
/** The keys that only contain others: `http`, `http.tls`. */
const GROUPS: ReadonlySet<string> = new Set(
  SETTINGS.flatMap(({ key }) => {
    const parts = key.split('.');
    return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'));
  }),
);

/** Returns the faults of a configuration. Each begins with the key that it is about. */
export function faultsOf(tree: Tree, parent = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const key = parent + name;
    const setting = BY_KEY.get(key);
    if (setting !== undefined) {
      const faults = [...valueFaults(setting, value)];
      return faults.map(([place, fault]) => `${key}${place}: ${fault} (${setting.why})`);
    }
    if (!GROUPS.has(key)) return [unknownKey(key)];
    return isTree(value) ? faultsOf(value, `${key}.`) : [`${key}: must be object`];
  });
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function unknownKey(key: string): string {
  const near = closest(key, [...BY_KEY.keys(), ...GROUPS]);
  const hint = distance(key, near) <= MISTYPED_MAX ? `; did you mean ${near}?` : '';
  return `${key}: there is no such setting${hint}`;
}

/** A fault of a value, and where in the value it is: '', or `.0` for the first of a list. */
type Fault = readonly [place: string, fault: string];

function* valueFaults(setting: Setting, value: unknown): Iterable<Fault> {
  switch (setting.type) {
    case 'text':
      yield* textFaults(value, '', setting);
      break;
    case 'integer':
      yield* integerFaults(setting, value);
      break;
    case 'boolean':
      if (typeof value !== 'boolean') yield ['', 'must be boolean'];
      break;
    case 'list':
    case 'members':
      yield* listFaults(setting, value);
      break;
    case 'map':
      if (!isTree(value)) yield ['', 'must be object'];
      else
        for (const [name, item] of Object.entries(value))
          if (typeof item !== 'string') yield [`.${name}`, 'must be string'];
  }
}

function* textFaults(
  value: unknown,
  place: string,
  { pattern, choices }: Pick<Setting, 'pattern' | 'choices'>,
): Iterable<Fault> {
  if (typeof value !== 'string') yield [place, 'must be string'];
  else if (value === '') yield [place, 'must not be empty'];
  else if (choices !== undefined && !choices.includes(value))
    yield [place, `must be ${choices.join(' or ')}`];
  else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    yield [place, `must match pattern "${pattern}"`];
}

function* integerFaults({ min, max }: Setting, value: unknown): Iterable<Fault> {
  if (!Number.isInteger(value)) yield ['', 'must be integer'];
  else if (min !== undefined && Number(value) < min) yield ['', `must be >= ${min}`];
  else if (max !== undefined && Number(value) > max) yield ['', `must be <= ${max}`];
}

function* listFaults({ type }: Setting, value: unknown): Iterable<Fault> {
  if (!Array.isArray(value)) {
    yield ['', 'must be array'];
    return;
  }
  for (const [at, item] of value.entries()) {
    const place = `.${at}`;
    const isText = typeof item === 'string';
    if (type === 'list' || !isText) yield* textFaults(item, place, {});
    else if (!MEMBER.test(item)) yield [place, 'must be name=host:port'];
    else if (value.indexOf(item) < at) yield [place, 'is there twice'];
  }
}
