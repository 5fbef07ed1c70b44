/** Reads the report of a migration from a file, which may be any file. */
import type { Finding, Report, RightsDifference } from '../../api/migration-report.js';
import type { Result } from '../api/types.js';
import { isObject } from '../forms/layout.js';
import { hasWords } from '../lists/filter.js';
import { TEXT } from '../texts.js';

const { problems } = TEXT.migration;

/** Bytes of a file that is read: twice a report with all the findings that one may have. */
export const BYTES_MAX = 256 * 2 ** 20;

/** What a member must be: a type, a list of one form, or an object with these members. */
type Form = 'string' | 'number' | 'boolean' | readonly [Form] | { readonly [name: string]: Form };

/** A member that may be absent. */
const OPTIONAL = '?';

const FINDING: Form = {
  Ref: 'string',
  Code: 'string',
  Message: 'string',
  'Line?': 'number',
  'Column?': 'number',
  'Pointer?': 'string',
  Lost: 'string',
  Do: 'string',
  'Original?': 'string',
  'Mended?': 'string',
  LeftOut: 'boolean',
};
const DIFFERENCE: Form = {
  Code: 'string',
  Tokens: 'number',
  Sample: ['string'],
  'LeftOut?': ['string'],
  Resource: 'string',
  Access: 'string',
  Segment: 'string',
  Namespace: 'string',
  Source: { Allow: 'boolean', 'Rule?': 'string' },
  Target: { Allow: 'boolean' },
};
const REPORT: Form = {
  Time: 'string',
  Source: {
    Address: 'string',
    'Version?': 'string',
    'Datacenter?': 'string',
    'DefaultPolicy?': 'string',
  },
  Target: { Datacenter: 'string', DefaultPolicy: 'string', Index: 'number', Level: 'number' },
  DryRun: 'boolean',
  Types: {},
  Findings: [FINDING],
  'Problems?': [{ Ref: 'string', Code: 'string', Message: 'string' }],
  'Writers?': [{ AccessorID: 'string', Description: 'string', Rights: ['string'] }],
  'Rights?': {
    Tokens: 'number',
    Classes: 'number',
    Questions: 'number',
    'More?': 'number',
    Equal: 'boolean',
    Differences: [DIFFERENCE],
    'Asked?': { Tokens: 'number', Questions: 'number' },
  },
  Exit: 'number',
};
const COUNTS: Form = {
  Source: 'number',
  Same: 'number',
  Create: 'number',
  Update: 'number',
  Delete: 'number',
  LeftOut: 'number',
};

/** Returns the pointer to what has not its form; undefined if all has. */
function fault(value: unknown, form: Form, pointer = ''): string | undefined {
  if (typeof form === 'string') return typeof value === form ? undefined : pointer;
  if (Array.isArray(form)) {
    if (!Array.isArray(value)) return pointer;
    for (const [at, item] of value.entries()) {
      const found = fault(item, form[0] as Form, `${pointer}/${at}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return pointer;
  for (const [given, of] of Object.entries(form)) {
    const name = given.replace(OPTIONAL, '');
    if (name !== given && value[name] === undefined) continue;
    const found = fault(value[name], of as Form, `${pointer}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns a report, or the sentence that says why the text is none. */
export function reportIn(text: string): Report | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return problems.noJson;
  }
  if (!isObject(value) || !('Findings' in value) || !('Types' in value)) return problems.noReport;
  const { Version, Types } = value;
  if (Version !== 1) return problems.version(String(JSON.stringify(Version)).slice(0, 20));
  const broken =
    fault(value, REPORT) ??
    Object.entries(Types as object)
      .map(([type, counts]) => fault(counts, COUNTS, `/Types/${type.slice(0, 40)}`))
      .find((pointer) => pointer !== undefined);
  return broken === undefined ? (value as unknown as Report) : problems.broken(broken);
}

/** What the page leads to: an object by its type, namespace, and what its pages are called by. */
export interface ShownRef {
  readonly type: string;
  readonly ns: string;
  readonly id: readonly string[];
}

/** Returns what a reference of a report names: `policy/default/ops`. */
export function refIn(ref: string): ShownRef {
  const [type = '', ...rest] = ref.split('/');
  if (type === 'token' || type === 'namespace') return { type, ns: '', id: [rest.join('/')] };
  const [ns = '', first = '', ...more] = rest;
  if (type === 'config') return { type, ns, id: [first, more.join('/')] };
  return { type, ns, id: [[first, ...more].join('/')] };
}

/** Which findings are shown. Empty: all. */
export interface Chosen {
  readonly code: string;
  readonly type: string;
  readonly words: string;
}

/** Returns the findings of a code and a type that have all words. */
export function chosenOf(findings: readonly Finding[], { code, type, words }: Chosen): Finding[] {
  return findings.filter((one) => {
    if (code !== '' && one.Code !== code) return false;
    if (type !== '' && refIn(one.Ref).type !== type) return false;
    return hasWords(`${one.Ref} ${one.Message} ${one.Lost}`, words);
  });
}

const RULE: Form = {
  Rule: 'string',
  Sources: [{ Path: [{ Type: 'string', Name: 'string' }], Level: 'string', Counts: 'boolean' }],
};

/** Returns why the target decides as it does; undefined if the report does not say so. */
export function whyHere({ Target }: RightsDifference): Result | undefined {
  const { Winner = null } = Target;
  const isWhole =
    fault(Target, { Text: 'string', Candidates: [RULE] }) === undefined &&
    (Winner === null || fault(Winner, RULE) === undefined);
  return isWhole ? ({ ...Target, Winner } as unknown as Result) : undefined;
}
