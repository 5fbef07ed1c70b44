/** The history of changes: who changed what, when and why, and how to take a change back. */
import {
  always,
  anyObject,
  bodyOf,
  boolean,
  ifSent,
  map,
  type Normal,
  nonEmpty,
  type Sent,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { HISTORY_LEVEL } from '../../state/history/settings.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, read, tagged, write } from './operation.js';
import { anyAs, author, differenceAt, listOf, oneOf, orNone, rows, shape } from './shapes.js';

const time = orNone(utcTime);
const AUTHOR = orNone(author);
const deed = {
  Index: always('The index of the entry.', whole64),
  Operation: always(
    'create, update, delete, undo, restore or import; unknown from before the history; revoke, ' +
      'unblock or gc of login tokens.',
    text(),
  ),
  Time: always('When it was done; null if it is not known.', time),
  Author: always('Who did it; null if it is not known, or not for the caller.', AUTHOR),
  Reason: always('Why, in the words of the author.', text()),
};
const named = {
  Type: always('The type.', text()),
  ID: always('The ID, the AccessorID, the name, or the kind and name of a config entry.', text()),
  Name: always('The name. Of a token its description.', text()),
  Namespace: always('The namespace.', text()),
};
const optional = <T extends object>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, mode: 'omit' }]),
  ) as T;

const difference = differenceAt('A JSON pointer into the form of a PUT.');

const VERSIONS = shape({
  ...optional(named),
  Exists: nonEmpty('Whether the object exists now.', boolean),
  Versions: nonEmpty(
    'Its versions, the newest first.',
    rows({
      ...deed,
      Current: always('Whether it is the present one.', boolean),
      Size: always('The bytes of its content.', whole64),
    }),
  ),
  More: nonEmpty('Whether there are older versions.', boolean),
  ...optional(deed),
  Current: nonEmpty('With version: whether it is the present one.', boolean),
  Size: nonEmpty('With version: the bytes of its content.', whole64),
  Object: nonEmpty(
    'With version: the object as it was; null if it was deleted.',
    orNone(anyObject),
  ),
  From: nonEmpty('With from: the older version.', whole64),
  To: nonEmpty('With from: the newer version.', whole64),
  Diff: nonEmpty('With from: how they differ.', listOf(difference)),
});

const FEED = shape({
  Index: always('The index of the newest change.', whole64),
  Oldest: always('The index of the oldest change that is kept.', whole64),
  OldestTime: always('When that was.', time),
  Changes: always(
    'The changes.',
    rows({
      ...deed,
      ...named,
      Ref: always('The name of the object across types.', text()),
      Count: nonEmpty('How many login tokens.', whole64),
    }),
  ),
  More: always('Whether there are more.', boolean),
});

export const UNDO = bodyOf({
  Index: ifSent('The index of the entry to take back.', whole64),
  Reason: ifSent('Why, for the history.', text()),
  DryRun: ifSent('Whether to plan only.', boolean),
  Expected: ifSent('The ModifyIndex that objects must have, by their Refs.', map(whole64)),
});

const UNDONE = shape({
  Index: always('The index of the undo, or of the state if nothing was to be done.', whole64),
  Changes: always(
    'What was changed.',
    rows({
      Ref: always('The object: its type, namespace and name.', text()),
      Type: always('The type of the object.', text()),
      Namespace: always('The namespace of the object.', text()),
      Name: always('The name of the object.', text()),
      ID: nonEmpty('The ID of the object.', text()),
      Action: always('What became of it.', oneOf('create', 'update', 'delete')),
      ModifyIndex: nonEmpty('Its ModifyIndex. Absent if it was deleted.', whole64),
      ExpectedIndex: nonEmpty('In a plan: its present ModifyIndex; 0: it does not exist.', whole64),
      Owner: nonEmpty('In a plan: its owner.', text()),
      Allowed: nonEmpty('In a plan: whether the token could do it.', boolean),
      Diff: nonEmpty('In a plan: how it changes.', listOf(difference)),
      Warnings: nonEmpty('In a plan: none.', listOf(anyAs<object>())),
    }),
  ),
  Valid: nonEmpty('In a plan: whether the undo would be accepted.', boolean),
  Digest: nonEmpty('In a plan: empty.', text()),
  Owner: nonEmpty('In a plan: empty.', text()),
  Summary: nonEmpty('In a plan: how many objects.', anyAs<object>()),
  Expected: nonEmpty('In a plan: the ModifyIndex of what changes, by Ref.', anyAs<object>()),
  Problems: nonEmpty('In a plan: why the undo would be refused.', listOf(anyAs<object>())),
  Asserts: nonEmpty('In a plan: none.', listOf(anyAs<object>())),
  Impact: nonEmpty('In a plan: whose rights change.', anyAs<object>()),
  Parts: nonEmpty('In a plan: none.', listOf(anyAs<object>())),
});
/** `POST /v1/undo`. */
export type Undone = Normal<typeof UNDONE>;
export type UndoBody = Sent<(typeof UNDO)['fields']>;

/** The name of the component of the configuration. */
const CONFIGURATION = 'HistoryConfiguration';

/** `GET /v1/history/:type/:id`. */
export type Versions = Normal<typeof VERSIONS>;
/** `GET /v1/history`. */
export type Feed = Normal<typeof FEED>;
export type Author = Feed['Changes'][number]['Author'];

/** Server-sent events: each frame has an id, an event and its data as JSON. */
const EVENTS = {
  200: {
    description: 'The events, for as long as the connection is open.',
    media: 'text/event-stream',
    content: { schema: { type: 'string' } },
    headers: ['index'],
  },
} as const;

export const HISTORY_OPERATIONS = tagged('history', {
  'GET /v1/history': read('readChanges', {
    level: HISTORY_LEVEL,
    description: 'Lists the changes of all objects that the caller may read.',
    query: ['after', 'limit', 'types', 'author', 'subject', 'logins'],
    answers: ok('The changes.', FEED, 'index'),
    blocks: true,
  }),
  'GET /v1/events': read('streamEvents', {
    level: HISTORY_LEVEL,
    description: 'Streams the changes of objects as they happen.',
    query: ['topics', 'payload', 'logins', 'index'],
    headers: ['Last-Event-ID'],
    answers: EVENTS,
    refuses: [404, 409],
  }),
  'GET /v1/history/:type/:id': read('readHistory', {
    level: HISTORY_LEVEL,
    description: 'Lists the versions of an object, or reads or compares them.',
    query: ['limit', 'before', 'version', 'from', 'to'],
    answers: ok('The versions.', VERSIONS, 'index'),
    refuses: [404],
  }),
  'POST /v1/undo': write('undo', {
    level: COMMAND_LEVELS.undo!,
    description: 'Takes back everything that one entry changed, or plans that.',
    body: 'UndoBody',
    answers: ok('What was changed; with DryRun the plan.', UNDONE),
    refuses: [404, 409, 412, 413],
    rights: ['the right to write each object'],
  }),
  'GET /v1/operator/history/configuration': read('readHistoryConfiguration', {
    description: 'Reads how much of the history is kept.',
    answers: ok('The configuration.', CONFIGURATION, 'index', 'etag'),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/history/configuration': write('writeHistoryConfiguration', {
    level: COMMAND_LEVELS['history.configure']!,
    description: 'Replaces the history configuration. Absent members take their defaults.',
    body: `${CONFIGURATION}Body`,
    answers: ok('The configuration.', CONFIGURATION, 'etag'),
    refuses: [412],
    rights: ['operator:write'],
  }),
});
