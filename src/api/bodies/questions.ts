/** The bodies of requests that ask what tokens may do: batches, explanations, searches. */
import { anyObject, bodyOf, given, items, type Sent, text } from '../../languages/fields.js';
import { tokens } from '../../state/tokens.js';

/** The body of a batch authorization: its questions. */
export const AUTHORIZE = items(
  bodyOf({
    Resource: given('The resource, such as service or key.', text()),
    Access: given('The access, such as read or write.', text()),
    Segment: given('The name of the resource. Omitted for resources without names.', text()),
  }),
);

const { Policies, Roles, ServiceIdentities, NodeIdentities, TemplatedPolicies } = tokens.fields;
const draftFields = {
  Policies,
  Roles,
  ServiceIdentities,
  NodeIdentities,
  TemplatedPolicies,
  Rules: given('The rules of an additional policy for the token.', text()),
};
/** A token that does not exist, as it is sent. */
export type Draft = Sent<typeof draftFields>;

/** The members of a question. */
export const QUESTION_FIELDS = {
  Resource: given('The resource, such as service, key or namespace.', text()),
  Access: given('The access, such as read or write.', text()),
  Segment: given('The name of the resource. Omitted for resources without names.', text()),
  Namespace: given('The namespace of the resource. Defaults to that of the request.', text()),
};
/** A question as it is sent. */
export type SentQuestion = Sent<typeof QUESTION_FIELDS>;

/** The body of a request for explanations. */
export const EXPLAIN = bodyOf({
  AccessorID: given(
    'The token whose rights are explained. Defaults to the token of the request.',
    text(),
  ),
  Draft: given('A token that does not exist, to use instead of AccessorID.', bodyOf(draftFields)),
  Requests: given('Between 1 and 64 questions.', items(bodyOf(QUESTION_FIELDS))),
  Namespace: given('The namespace of the request.', text()),
});
/** The decoded body. */
export type ExplainBody = Sent<(typeof EXPLAIN)['fields']>;

/** The body of a search for who may do something: one question. */
export const WHO_CAN = bodyOf(QUESTION_FIELDS);

/** The body of a request that explains a login. */
export const LOGIN_EXPLAIN = bodyOf({
  AuthMethod: given('The name of the auth method.', text()),
  BearerToken: given(
    'The bearer token of the login. It is checked, but nothing is written.',
    text(),
  ),
  Claims: given('Claims to use instead of a bearer token.', anyObject),
  Namespace: given('The namespace of the auth method.', text()),
});
/** The decoded body. */
export type LoginExplainBody = Sent<(typeof LOGIN_EXPLAIN)['fields']>;
