/** Sets: objects that are planned and applied together. */
import type { Explanation } from '../../acl/explain.js';
import { ENTRY_BODY } from '../../kinds/decode.js';
import {
  anyObject,
  bodyOf,
  boolean,
  given,
  items,
  keep,
  map,
  type Normal,
  omit,
  type Sent,
  text,
  whole64,
} from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { OBJECTS } from '../../state/objects.js';
import { tableOfType } from '../../state/refs.js';
import { draftFields, QUESTION_FIELDS } from './explain.js';
import { LINTED } from './lint.js';
import { ok, read, tagged, write } from './operation.js';
import { anyAs, differenceAt, INDEX, listOf, oneOf, orNone, rows, shape } from './shapes.js';

const word = text();

/** Objects and deletes of a set: comparing them takes a second or two. */
export const SET_OBJECTS_MAX = 10_000;
/** Assertions of a set: each compiles the rights of a token. */
export const SET_ASSERTS_MAX = 64;
/** More are decoded, so that the refusal can say how many there are. */
const DECODED_MAX = 2 * SET_OBJECTS_MAX;

const typeField = given(
  'The type: namespace, policy, role, auth-method, binding-rule, token or config.',
  text(),
);
const namespaceField = given('The namespace. Defaults to that of the request.', text());
/** An object of a set. Which members it may have follows from the type beside it. */
const objectOfType: typeof anyObject = {
  ...anyObject,
  description: {
    is: 'free',
    shapeOf(_, { Type }) {
      const table = typeof Type === 'string' ? tableOfType(Type) : undefined;
      if (table === undefined) return undefined;
      if (table === 'config') return ENTRY_BODY.description;
      return { is: 'object', fields: OBJECTS[table].fields, nullable: false };
    },
  },
};
const handleField = given('A name for a binding rule, which is kept beside it.', text());

const subjectFields = {
  Token: given('The AccessorID of a token.', text()),
  Role: given('The name of a role: a token with this role alone.', text()),
  Policy: given('The name of a policy: a token with this policy alone.', text()),
  Rules: given('Rules: a token with these alone.', text()),
  Draft: given('A token that does not exist.', bodyOf(draftFields)),
  Anonymous: given('Whether the subject is the anonymous token.', boolean),
  Namespace: given('Where the subject lives. Defaults to the namespace of the request.', text()),
};

export const SET = bodyOf({
  Owner: given('Who owns the objects of the set, such as gitops/payments.', text()),
  Prune: given('Whether objects of the owner that are not in the set are deleted.', boolean),
  TakeOver: given('Whether objects of another owner may be taken.', boolean),
  Reason: given('Why, for the history.', text()),
  Namespace: namespaceField,
  Objects: given(
    'The objects.',
    items(
      bodyOf({
        Type: typeField,
        Namespace: namespaceField,
        Handle: handleField,
        Object: given('The object, as in the body of a PUT.', objectOfType),
      }),
      DECODED_MAX,
    ),
  ),
  Delete: given(
    'What to delete.',
    items(
      bodyOf({
        Type: typeField,
        Namespace: namespaceField,
        Name: given('The name; of a config entry, kind/name.', text()),
        ID: given('The ID, instead of the name.', text()),
        Handle: handleField,
        IfUnused: given('Whether to refuse this if anything refers to it.', boolean),
      }),
      DECODED_MAX,
    ),
  ),
  Assert: given(
    'Questions about the rights that result, with the answers that they must have.',
    items(
      bodyOf({
        Name: given('The name of the assertion.', text()),
        Subject: given('Whose rights.', bodyOf(subjectFields)),
        ...QUESTION_FIELDS,
        Expect: given('The answer: allow or deny.', text()),
      }),
    ),
  ),
  Expected: given(
    'The ModifyIndex that objects must have, by their Refs; 0: must not exist.',
    map(whole64, { count: DECODED_MAX }, DECODED_MAX),
  ),
  Digest: given('The digest of a plan. Anything else is refused.', text()),
  Index: given('Ignored. Exports have it.', whole64),
  At: given('Ignored. Exports have it.', anyObject),
  Secrets: given('Ignored. Exports have it.', whole64),
});
export type SetBody = Sent<(typeof SET)['fields']>;
/** An item of Objects, as clients write it. */
export type SetItem<Type extends string = string> = Omit<Objects, 'Type' | 'Object'> & {
  readonly Type: Type;
  readonly Object: Readonly<Record<string, unknown>>;
};
type Objects = NonNullable<SetBody['Objects']>[number];
/** An item of Delete, as clients write it. */
export type SetDelete = NonNullable<SetBody['Delete']>[number] & { readonly Type: string };
/** An assertion as it is sent. */
export type SentAssert = NonNullable<SetBody['Assert']>[number];

const ref = keep('The object: its type, namespace and name.', word);
const objectFields = {
  Ref: ref,
  Type: keep('The type of the object.', word),
  Namespace: keep('The namespace of the object.', word),
  Name: keep('The name of the object.', word),
  ID: omit('The ID of the object.', word),
};
const asserts = keep(
  'The assertions.',
  rows({
    Name: keep('The name of the assertion.', word),
    Passed: keep('Whether the answer is as expected.', boolean),
    Result: keep('The answer and its reason.', orNone(anyAs<Explanation>())),
    Problem: omit('Why there is no answer.', word),
  }),
);
const problems = keep(
  'Why an apply would be refused.',
  rows({
    Ref: ref,
    Code: keep('The problem, in one word.', word),
    Message: keep('The problem, in a sentence.', word),
    Pointer: keep('Where it is in the set.', word),
  }),
);
const PLAN = shape({
  Index: INDEX,
  Valid: keep('Whether an apply would be accepted, rights aside.', boolean),
  Digest: keep('A digest of the changes, for an apply.', word),
  Owner: keep('The owner.', word),
  Summary: keep(
    'How many objects.',
    shape({
      Create: keep('Created.', whole64),
      Update: keep('Updated.', whole64),
      Delete: keep('Deleted.', whole64),
      Unchanged: keep('Unchanged.', whole64),
      Hidden: keep('Objects that the token may not read.', whole64),
    }),
  ),
  Changes: keep(
    'What becomes of each object.',
    rows({
      ...objectFields,
      Action: keep(
        'What becomes of it.',
        oneOf('create', 'update', 'delete', 'unchanged', 'hidden'),
      ),
      ExpectedIndex: omit('The ModifyIndex that it has now; 0: it does not exist.', whole64),
      Owner: omit('The owner that it has now.', word),
      Handle: omit('The handle of a binding rule.', word),
      Allowed: keep('Whether the token could apply it.', boolean),
      Diff: omit('How it changes.', listOf(differenceAt('A JSON pointer to the member.'))),
      Warnings: omit('What lint finds in it.', LINTED),
    }),
  ),
  Expected: keep('The ModifyIndex of what changes, by Ref.', anyAs<Record<string, number>>()),
  Problems: problems,
  Asserts: asserts,
  Impact: keep('Whose rights change.', anyAs<object>()),
  Parts: keep('The Refs of each entry, if one does not take all.', listOf(listOf(word))),
});

const APPLIED = shape({
  Index: keep('The index of the entry, or of the state if nothing changed.', whole64),
  Changed: keep('How many objects changed.', whole64),
  Unchanged: keep('How many did not.', whole64),
  Changes: keep(
    'What changed.',
    rows({
      ...objectFields,
      Action: keep('What became of it.', oneOf('create', 'update', 'delete')),
      ModifyIndex: omit('Its ModifyIndex. Absent if it was deleted.', whole64),
    }),
  ),
  Asserts: asserts,
});

export type Plan = Normal<typeof PLAN>;
export type Applied = Normal<typeof APPLIED>;
/** Why an apply would be refused. */
export type Problem = Plan['Problems'][number];
export type Asserted = Plan['Asserts'][number];

export const SET_OPERATIONS = tagged('sets', {
  'POST /v1/plan': read('planSet', {
    says: 'Compares a set with the state. Nothing is written.',
    body: 'SetBody',
    answers: ok('What an apply would do.', PLAN, 'index'),
    refuses: [409, 413],
    rights: ['the right to read each object'],
  }),
  'POST /v1/apply': write('applySet', {
    level: COMMAND_LEVELS['set.apply']!,
    says: 'Applies a set as one entry: all of its changes, or none.',
    body: 'SetBody',
    answers: ok('What was done.', APPLIED, 'owner'),
    refuses: [409, 412, 413],
    rights: ['the right of each change'],
  }),
});
