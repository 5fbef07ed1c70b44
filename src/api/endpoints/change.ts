/** Before a change: what refers to an object, whether entries are valid, and objects as a set. */
import { always, boolean, type Normal, nonEmpty, text, whole64 } from '../../languages/fields.js';
import { ok, read, tagged } from './operation.js';
import { anyAs, INDEX, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const word = text();

const shownFields = {
  Type: always('The type of the object.', word),
  ID: always('The ID, AccessorID or name of the object; of a config entry <kind>/<name>.', word),
  Name: always('The name of the object; of a token its description.', word),
  Namespace: always('The namespace of the object.', word),
};
const counts = mapOf(whole64);

const REFS = shape({
  ...shownFields,
  Ref: always('The type, namespace and name of the object.', word),
  ModifyIndex: always('The index at which the object was last changed.', whole64),
  Owner: always('The owner of the object. Empty if it has none.', word),
  Index: INDEX,
  UsedBy: always('Objects that name the object, at most 100 of each type.', rows(shownFields)),
  UsedByTotal: always('How many objects of each type name the object.', counts),
  Uses: always('Objects that the object names, at most 100 of each type.', rows(shownFields)),
  Filtered: always('Whether objects that the caller may not read are left out.', boolean),
  IfDeleted: always(
    'The effects of deleting the object now.',
    shape({
      Refused: always('Why a deletion would be refused. Empty if it would not be.', word),
      Removed: always('How many objects of each type would be removed too.', counts),
      Unlinked: always('How many objects of each type would lose a link.', counts),
      TokensThatLoseRights: always(
        'How many tokens would lose rights, or be removed. At most 10,000 are looked at.',
        whole64,
      ),
      Truncated: always('Whether more tokens link to the object.', boolean),
    }),
  ),
});

const problem = {
  Code: always('The code of the problem. A conflict is with another entry.', word),
  Message: always('The problem, in a sentence.', word),
  Pointer: always('The JSON pointer to the member. Empty for the whole entry.', word),
  Expected: always('What was expected of the value. May be empty.', word),
  Got: always('What the value is instead. May be empty.', word),
  Hint: always('A suggestion that may help. May be empty.', word),
};
const VALIDATION = shape({
  Valid: always('Whether all entries are valid.', boolean),
  Index: INDEX,
  Results: always(
    'The results, in the order of the entries.',
    rows({
      Kind: always('The kind of the entry.', word),
      Name: always('The name of the entry.', word),
      Ref: always('The type, namespace, kind and name. Empty for an unknown kind.', word),
      Valid: always('Whether the entry is valid.', boolean),
      Normalised: always('What would be stored, without secrets.', orNone(anyAs<object>())),
      Problems: always('Everything that is wrong with the entry.', rows(problem)),
      Judged: always(
        'all, or form if the caller may not write the entry: its form and the rules of its kind.',
        oneOf('all', 'form'),
      ),
    }),
  ),
});

const setObject = {
  Type: always('The type of the object.', word),
  Namespace: nonEmpty('The namespace of the object.', word),
  Handle: nonEmpty('The handle of a binding rule.', word),
  Object: always('The object as a PUT would write it.', anyAs<object>()),
};
const EXPORT = shape({
  Index: INDEX,
  Objects: always('The objects, in the order in which they can be written.', rows(setObject)),
  Secrets: always('How many secrets are hidden.', whole64),
  At: nonEmpty(
    'The moment at which the objects were as shown.',
    shape({ Index: always('The index.', whole64), Time: always('Its time.', orNone(word)) }),
  ),
  Unknown: nonEmpty('Objects of which nothing from then is kept.', listOf(word)),
});

/** `GET /v1/refs/:type/:id`. */
export type Refs = Normal<typeof REFS>;
export type ShownObject = Refs['Uses'][number];
/** `POST /v1/config/validate`. */
export type Validation = Normal<typeof VALIDATION>;
export type EntryResult = Validation['Results'][number];
export type EntryProblem = EntryResult['Problems'][number];
/** `GET /v1/export`. */
export type Export = Normal<typeof EXPORT>;
export type SetObject = Export['Objects'][number];

export const CHANGE_OPERATIONS = tagged('change', {
  'GET /v1/refs/:type/:id': read('readReferences', {
    description: 'Shows what an object names, what names it, and the effects of deleting it.',
    answers: ok('The references.', REFS, 'index'),
    refuses: [404],
    rights: ['to read the object'],
  }),
  'POST /v1/config/validate': read('validateConfigEntries', {
    description: 'Judges one config entry, or up to 1,000 together, without writing them.',
    body: {
      schema: {
        description: 'A config entry, or the member Entries with a list of them.',
        type: 'object',
        properties: { Entries: { type: 'array', maxItems: 1000 } },
      },
    },
    answers: ok('What is wrong with each entry.', VALIDATION, 'index'),
    rights: ['none; for the rules between entries the right to write the entry'],
  }),
  'GET /v1/export': read('exportObjects', {
    description: 'Exports objects as a set that can be planned and applied.',
    query: ['types', 'owner', 'kind', 'ids', 'at', 'partial'],
    // A 404 of what is no longer known has no index to wait on.
    answers: ok('The set.', EXPORT),
    refuses: [404],
    rights: ['to read each object'],
  }),
});
