/** Sets: objects that are planned and applied together. */
import type { Explanation } from '../../acl/explain.js';
import { ENTRY_BODY } from '../../kinds/decode.js';
import {
  always,
  anyObject,
  bodyOf,
  boolean,
  ifSent,
  items,
  map,
  type Normal,
  nonEmpty,
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

const typeField = ifSent(
  'The type: namespace, policy, role, auth-method, binding-rule, token or config.',
  text(),
);
const namespaceField = ifSent('The namespace. Defaults to that of the request.', text());
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
const handleField = ifSent('A name for a binding rule, which is kept beside it.', text());

const subjectFields = {
  Token: ifSent('The AccessorID of a token.', text()),
  Role: ifSent('The name of a role: a token with this role alone.', text()),
  Policy: ifSent('The name of a policy: a token with this policy alone.', text()),
  Rules: ifSent('Rules: a token with these alone.', text()),
  Draft: ifSent('A token that does not exist.', bodyOf(draftFields)),
  Anonymous: ifSent('Whether the subject is the anonymous token.', boolean),
  Namespace: ifSent('Where the subject lives. Defaults to the namespace of the request.', text()),
};

export const SET = bodyOf({
  Owner: ifSent('Who owns the objects of the set, such as gitops/payments.', text()),
  Prune: ifSent('Whether objects of the owner that are not in the set are deleted.', boolean),
  TakeOver: ifSent('Whether objects of another owner may be taken.', boolean),
  Reason: ifSent('Why, for the history.', text()),
  Namespace: namespaceField,
  Objects: ifSent(
    'The objects.',
    items(
      bodyOf({
        Type: typeField,
        Namespace: namespaceField,
        Handle: handleField,
        Object: ifSent('The object, as in the body of a PUT.', objectOfType),
      }),
      DECODED_MAX,
    ),
  ),
  Delete: ifSent(
    'What to delete.',
    items(
      bodyOf({
        Type: typeField,
        Namespace: namespaceField,
        Name: ifSent('The name; of a config entry, kind/name.', text()),
        ID: ifSent('The ID, instead of the name.', text()),
        Handle: handleField,
        IfUnused: ifSent('Whether to refuse this if anything refers to it.', boolean),
      }),
      DECODED_MAX,
    ),
  ),
  Assert: ifSent(
    'Questions about the rights that result, with the answers that they must have.',
    items(
      bodyOf({
        Name: ifSent('The name of the assertion.', text()),
        Subject: ifSent('Whose rights.', bodyOf(subjectFields)),
        ...QUESTION_FIELDS,
        Expect: ifSent('The answer: allow or deny.', text()),
      }),
    ),
  ),
  Expected: ifSent(
    'The ModifyIndex that objects must have, by their Refs; 0: must not exist.',
    map(whole64, { count: DECODED_MAX }, DECODED_MAX),
  ),
  Digest: ifSent('The digest of a plan. Anything else is refused.', text()),
  Index: ifSent('Ignored. Exports have it.', whole64),
  At: ifSent('Ignored. Exports have it.', anyObject),
  Secrets: ifSent('Ignored. Exports have it.', whole64),
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

const ref = always('The object: its type, namespace and name.', word);
const objectFields = {
  Ref: ref,
  Type: always('The type of the object.', word),
  Namespace: always('The namespace of the object.', word),
  Name: always('The name of the object.', word),
  ID: nonEmpty('The ID of the object.', word),
};
const asserts = always(
  'The assertions.',
  rows({
    Name: always('The name of the assertion.', word),
    Passed: always('Whether the answer is as expected.', boolean),
    Result: always('The answer and its reason.', orNone(anyAs<Explanation>())),
    Problem: nonEmpty('Why there is no answer.', word),
  }),
);
const problems = always(
  'Why an apply would be refused.',
  rows({
    Ref: ref,
    Code: always('The problem, in one word.', word),
    Message: always('The problem, in a sentence.', word),
    Pointer: always('Where it is in the set.', word),
  }),
);
const PLAN = shape({
  Index: INDEX,
  Valid: always('Whether an apply would be accepted, rights aside.', boolean),
  Digest: always('A digest of the changes, for an apply.', word),
  Owner: always('The owner.', word),
  Summary: always(
    'How many objects.',
    shape({
      Create: always('Created.', whole64),
      Update: always('Updated.', whole64),
      Delete: always('Deleted.', whole64),
      Unchanged: always('Unchanged.', whole64),
      Hidden: always('Objects that the token may not read.', whole64),
    }),
  ),
  Changes: always(
    'What becomes of each object.',
    rows({
      ...objectFields,
      Action: always(
        'What becomes of it.',
        oneOf('create', 'update', 'delete', 'unchanged', 'hidden'),
      ),
      ExpectedIndex: nonEmpty('The ModifyIndex that it has now; 0: it does not exist.', whole64),
      Owner: nonEmpty('The owner that it has now.', word),
      Handle: nonEmpty('The handle of a binding rule.', word),
      Allowed: always('Whether the token could apply it.', boolean),
      Diff: nonEmpty('How it changes.', listOf(differenceAt('A JSON pointer to the member.'))),
      Warnings: nonEmpty('What lint finds in it.', LINTED),
    }),
  ),
  Expected: always('The ModifyIndex of what changes, by Ref.', anyAs<Record<string, number>>()),
  Problems: problems,
  Asserts: asserts,
  Impact: always('Whose rights change.', anyAs<object>()),
  Parts: always('The Refs of each entry, if one does not take all.', listOf(listOf(word))),
});

const APPLIED = shape({
  Index: always('The index of the entry, or of the state if nothing changed.', whole64),
  Changed: always('How many objects changed.', whole64),
  Unchanged: always('How many did not.', whole64),
  Changes: always(
    'What changed.',
    rows({
      ...objectFields,
      Action: always('What became of it.', oneOf('create', 'update', 'delete')),
      ModifyIndex: nonEmpty('Its ModifyIndex. Absent if it was deleted.', whole64),
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
    description: 'Compares a set with the state. Nothing is written.',
    body: 'SetBody',
    answers: ok('What an apply would do.', PLAN, 'index'),
    refuses: [409, 413],
    rights: ['the right to read each object'],
  }),
  'POST /v1/apply': write('applySet', {
    level: COMMAND_LEVELS['set.apply']!,
    description: 'Applies a set as one entry: all of its changes, or none.',
    body: 'SetBody',
    answers: ok('What was done.', APPLIED, 'owner'),
    refuses: [409, 412, 413],
    rights: ['the right of each change'],
  }),
});
