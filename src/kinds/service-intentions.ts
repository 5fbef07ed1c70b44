/** `service-intentions`: which services may connect to a service. */

import {
  always,
  boolean,
  ifSent,
  list,
  map,
  type Normal,
  neededList,
  neededText,
  never,
  nonEmpty,
  object,
  text,
  textLike,
  time,
  whole,
} from '../languages/fields.js';
import { any, atLeastOne, exactlyOne, not, rule, ruled, set, when } from '../languages/rules.js';
import {
  headerMatch,
  httpMethod,
  isLonger,
  metaField,
  metaProblems,
  methodProblems,
  nameProblems,
  onePath,
  type Path,
  pathMatch,
  pathMatchProblems,
  textOr,
} from './common.js';
import { defineKind } from './definition.js';
import { jwtRequirement, providerProblems, providersOf } from './jwt.js';
import { OF_INTENTIONS } from './permissions.js';
import { type Problem, problem } from './problems.js';

const ACTIONS = ['allow', 'deny'];
/** Maximum number of bytes of a description, as in Consul. */
const DESCRIPTION_MAX = 512;

const oneComparison = exactlyOne('Present', 'Exact', 'Prefix', 'Suffix', 'Contains', 'Regex');
const caseOfText = rule(
  'IgnoreCase is for Exact, Prefix, Suffix and Contains.',
  when(set('IgnoreCase'), not(any(set('Present'), set('Regex')))),
);
const header = object({
  ...headerMatch,
  Contains: nonEmpty('A substring of the value.', text()),
  Regex: nonEmpty('A regular expression for the value.', text()),
  Invert: nonEmpty('Whether the condition is negated.', boolean),
  IgnoreCase: nonEmpty('Whether letter case is ignored.', boolean, 'ignore_case'),
});
const httpPermission = object({
  ...pathMatch,
  Header: nonEmpty(
    'Conditions on headers. All must be met.',
    list(ruled(header, oneComparison, caseOfText)),
  ),
  Methods: nonEmpty(
    'The HTTP methods of the requests. Empty means all.',
    list(httpMethod, { unique: true }),
  ),
});
const someCondition = atLeastOne(...Object.keys(httpPermission.fields));
const conditionGiven = rule('HTTP is given.', set('HTTP'));
const permission = object({
  Action: nonEmpty(
    'Whether the requests are allowed or denied.',
    text({ values: ACTIONS, limits: { needed: true } }),
  ),
  HTTP: ifSent(
    'The requests to which the permission applies.',
    ruled(httpPermission, onePath, someCondition),
  ),
  JWT: ifSent('The JSON Web Token that a request must carry.', jwtRequirement),
});
const actionOrPermissions = exactlyOne('Action', 'Permissions');
const peer = textLike('^[^*]*$');
const source = object({
  Name: always('The name of the service that connects, or `*` for all services.', neededText),
  Action: nonEmpty(
    'Whether connections are allowed or denied. Omitted for sources with permissions.',
    text({ values: ['', ...ACTIONS] }),
  ),
  Permissions: nonEmpty(
    'What is allowed or denied for individual requests. The first match decides.',
    list(ruled(permission, conditionGiven)),
  ),
  Precedence: always('How specific the source is. The server computes it.', whole()),
  LegacyID: never(
    'The ID of an intention in older releases. It is accepted but not stored.',
    text(),
    'legacy_id',
  ),
  Type: always('The type of the source.', textOr('consul', ['consul'])),
  Description: nonEmpty(
    'A human-readable description of the source.',
    text({ limits: { bytesMax: DESCRIPTION_MAX } }),
  ),
  LegacyMeta: nonEmpty(
    'Labels of an intention in older releases. They are refused.',
    map(text(), { count: 0 }),
    'legacy_meta',
  ),
  LegacyCreateTime: never(
    'A time from older releases. It is accepted but not stored.',
    time,
    'legacy_create_time',
  ),
  LegacyUpdateTime: never(
    'A time from older releases. It is accepted but not stored.',
    time,
    'legacy_update_time',
  ),
  Peer: nonEmpty('The peer from which the source is imported.', peer),
  SamenessGroup: nonEmpty(
    'A sameness group. Sameness groups are not supported.',
    text(),
    'sameness_group',
  ),
});
type Source = Normal<typeof source>;
type Permission = Normal<typeof permission>;

export const serviceIntentions = defineKind(
  'service-intentions',
  {
    JWT: ifSent('The JSON Web Token that every request must carry.', jwtRequirement),
    Sources: always(
      'Who may connect, and who may not.',
      neededList(ruled(source, actionOrPermissions), { unique: true }),
    ),
    Meta: metaField,
  },
  {
    description: 'Who may connect to a service.',
    permissions: OF_INTENTIONS,
    normalise(entry) {
      for (const one of entry.Sources ?? []) one.Precedence = precedence(entry.Name, one.Name);
      return entry;
    },
    // Problems name the places of the request. The sort is stable: sources of equal precedence keep
    // their order.
    stored: (entry) => ({
      ...entry,
      Sources: entry.Sources?.toSorted((a, b) => b.Precedence - a.Precedence) ?? null,
    }),
    *providers(entry) {
      yield* providersOf(entry.JWT);
      for (const { Permissions: permissions } of entry.Sources ?? []) {
        for (const { JWT: jwt } of permissions ?? []) yield* providersOf(jwt);
      }
    },
    *validate(entry) {
      yield* nameProblems(entry.Name);
      yield* wildcardProblems(entry.Name, '', 'Name');
      yield* metaProblems(entry.Meta);
      yield* providerProblems(entry.JWT, 'JWT');
      const sources = entry.Sources ?? [];
      if (sources.length === 0) yield problem('At least one source is required', 'Sources');
      const seen = new Set<string>();
      for (const [i, one] of sources.entries()) {
        yield* sourceProblems(one, entry.Name, i);
        const key = JSON.stringify([one.Name, one.Peer ?? '']);
        if (seen.has(key)) yield repeated(one, i);
        seen.add(key);
      }
    },
  },
);
/** 9 for an exact source and destination, 8 for any source, 6 for any destination, 5 for both. */
function precedence(destination: string, from: string): number {
  if (destination === '*') return from === '*' ? 5 : 6;
  return from === '*' ? 8 : 9;
}

function repeated({ Name: name, Peer: peer }: Source, i: number): Problem {
  const who = peer === undefined ? '' : `peer(${JSON.stringify(peer)}) `;
  return problem(
    `Sources[${i}] defines ${who}${JSON.stringify(name)} more than once`,
    'Sources',
    i,
  );
}

function* wildcardProblems(name: string, at: string, ...path: Path): Iterable<Problem> {
  if (name !== '*' && name.includes('*')) {
    yield problem(`${at}Name: wildcard character '*' cannot be used with partial values`, ...path);
  }
}

function* sourceProblems(one: Source, destination: string, i: number): Iterable<Problem> {
  const at = `Sources[${i}].`;
  const say = (message: string, field: string): Problem =>
    problem(at + message, 'Sources', i, field);
  if (one.Name === '') yield say('Name is required', 'Name');
  yield* wildcardProblems(one.Name, at, 'Sources', i, 'Name');
  if (one.SamenessGroup !== undefined) {
    yield say(
      'SamenessGroup: Sameness groups are a feature that this server does not have',
      'SamenessGroup',
    );
  }
  if (!peer.fits(one.Peer ?? '')) yield say("Peer: cannot use wildcard '*' in peer", 'Peer');
  if (isLonger(one.Description ?? '', DESCRIPTION_MAX)) {
    yield say(`Description exceeds maximum length ${DESCRIPTION_MAX}`, 'Description');
  }
  if (one.LegacyMeta !== undefined) yield say('LegacyMeta must be omitted', 'LegacyMeta');
  const permissions = one.Permissions ?? [];
  if (permissions.length === 0) {
    if (!ACTIONS.includes(one.Action ?? '')) {
      yield say("Action must be set to 'allow' or 'deny'", 'Action');
    }
  } else if (!actionOrPermissions.holds(one)) {
    yield say('Action must be omitted if Permissions are specified', 'Action');
  } else if (destination === '*') {
    yield say(
      'Permissions cannot be specified on intentions with wildcarded destinations',
      'Permissions',
    );
  }
  if (one.Type !== 'consul') yield say("Type must be set to 'consul'", 'Type');
  for (const [j, value] of permissions.entries()) {
    yield* permissionProblems(value, `${at}Permissions[${j}].`, 'Sources', i, 'Permissions', j);
  }
}

function* permissionProblems(value: Permission, at: string, ...path: Path): Iterable<Problem> {
  if (!ACTIONS.includes(value.Action ?? '')) {
    yield problem(`${at}Action must be set to 'allow' or 'deny'`, ...path, 'Action');
  }
  yield* providerProblems(value.JWT, ...path, 'JWT');
  const { HTTP: http = {} } = value;
  if (!conditionGiven.holds(value)) {
    yield problem(`${at}HTTP is required`, ...path, 'HTTP');
    return;
  }
  const place: Path = [...path, 'HTTP'];
  yield* pathMatchProblems(http, { field: `${at}HTTP.`, whole: `${at}HTTP` }, ...place);
  for (const [k, one] of (http.Header ?? []).entries()) {
    yield* headerProblems(one, `${at}HTTP.Header[${k}]`, ...place, 'Header', k);
  }
  yield* methodProblems(http.Methods, `${at}HTTP.`, ...place);
  if (!someCondition.holds(http)) yield problem(`${at}HTTP should not be empty`, ...place);
}

function* headerProblems(one: Normal<typeof header>, at: string, ...path: Path): Iterable<Problem> {
  if (one.Name === '') yield problem(`${at} missing required Name field`, ...path, 'Name');
  if (!oneComparison.holds(one)) {
    yield problem(
      `${at} should only contain one of Present, Exact, Prefix, Suffix, Contains, or Regex`,
      ...path,
    );
  }
  if (!caseOfText.holds(one)) {
    yield problem(
      `${at} should set one of Exact, Prefix, Suffix, or Contains when using IgnoreCase`,
      ...path,
      'IgnoreCase',
    );
  }
}
