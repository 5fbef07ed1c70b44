/** Before a change: what refers to an object, whether entries are valid, and objects as a set. */
import { boolean, keep, type Normal, omit, text, whole64 } from '../../languages/fields.js';
import { ok, read, tagged } from './operation.js';
import { anyAs, INDEX, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const word = text();

const shownFields = {
  Type: keep('The type of the object.', word),
  ID: keep('The ID, AccessorID or name of the object; of a config entry <kind>/<name>.', word),
  Name: keep('The name of the object; of a token its description.', word),
  Namespace: keep('The namespace of the object.', word),
};
const counts = mapOf(whole64);

const REFS = shape({
  ...shownFields,
  Ref: keep('The type, namespace and name of the object.', word),
  ModifyIndex: keep('The index at which the object was last changed.', whole64),
  Owner: keep('The owner of the object. Empty if it has none.', word),
  Index: INDEX,
  UsedBy: keep('Objects that name the object, at most 100 of each type.', rows(shownFields)),
  UsedByTotal: keep('How many objects of each type name the object.', counts),
  Uses: keep('Objects that the object names, at most 100 of each type.', rows(shownFields)),
  Filtered: keep('Whether objects that the caller may not read are left out.', boolean),
  IfDeleted: keep(
    'The effects of deleting the object now.',
    shape({
      Refused: keep('Why a deletion would be refused. Empty if it would not be.', word),
      Removed: keep('How many objects of each type would be removed too.', counts),
      Unlinked: keep('How many objects of each type would lose a link.', counts),
      TokensThatLoseRights: keep(
        'How many tokens would lose rights, or be removed. At most 10,000 are looked at.',
        whole64,
      ),
      Truncated: keep('Whether more tokens link to the object.', boolean),
    }),
  ),
});

const problem = {
  Code: keep('The code of the problem. A conflict is with another entry.', word),
  Message: keep('The problem, in a sentence.', word),
  Pointer: keep('The JSON pointer to the member. Empty for the whole entry.', word),
  Expected: keep('What was expected of the value. May be empty.', word),
  Got: keep('What the value is instead. May be empty.', word),
  Hint: keep('A suggestion that may help. May be empty.', word),
};
const VALIDATION = shape({
  Valid: keep('Whether all entries are valid.', boolean),
  Index: INDEX,
  Results: keep(
    'The results, in the order of the entries.',
    rows({
      Kind: keep('The kind of the entry.', word),
      Name: keep('The name of the entry.', word),
      Ref: keep('The type, namespace, kind and name. Empty for an unknown kind.', word),
      Valid: keep('Whether the entry is valid.', boolean),
      Normalised: keep('What would be stored, without secrets.', orNone(anyAs<object>())),
      Problems: keep('Everything that is wrong with the entry.', rows(problem)),
      Judged: keep(
        'all, or form if the caller may not write the entry: its form and the rules of its kind.',
        oneOf('all', 'form'),
      ),
    }),
  ),
});

const setObject = {
  Type: keep('The type of the object.', word),
  Namespace: omit('The namespace of the object.', word),
  Handle: omit('The handle of a binding rule.', word),
  Object: keep('The object as a PUT would write it.', anyAs<object>()),
};
const EXPORT = shape({
  Index: INDEX,
  Objects: keep('The objects, in the order in which they can be written.', rows(setObject)),
  Secrets: keep('How many secrets are hidden.', whole64),
  At: omit(
    'The moment at which the objects were as shown.',
    shape({ Index: keep('The index.', whole64), Time: keep('Its time.', orNone(word)) }),
  ),
  Unknown: omit('Objects of which nothing from then is kept.', listOf(word)),
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
    says: 'Shows what an object names, what names it, and the effects of deleting it.',
    answers: ok('The references.', REFS, 'index'),
    refuses: [404],
    rights: ['to read the object'],
  }),
  'POST /v1/config/validate': read('validateConfigEntries', {
    says: 'Judges one config entry, or up to 1,000 together, without writing them.',
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
    says: 'Exports objects as a set that can be planned and applied.',
    query: ['types', 'owner', 'kind', 'ids', 'at', 'partial'],
    // A 404 of what is no longer known has no index to wait on.
    answers: ok('The set.', EXPORT),
    refuses: [404],
    rights: ['to read each object'],
  }),
});
