/** Tokens besides what all ACL objects have: batches of questions, logins and templates. */
import {
  bodyOf,
  boolean,
  given,
  items,
  keep,
  labels,
  type Normal,
  omit,
  text,
  whole64,
} from '../../languages/fields.js';
import { templateVariables } from '../../state/grants.js';
import { ok, read, tagged, write } from './operation.js';
import { mapOf, rows, shape } from './shapes.js';

const word = text();

/** The body of a batch authorization: its questions. */
export const AUTHORIZE = items(
  bodyOf({
    Resource: given('The resource, such as service or key.', text()),
    Access: given('The access, such as read or write.', text()),
    Segment: given('The name of the resource. Omitted for resources without names.', text()),
  }),
);

export const LOGIN = bodyOf({
  AuthMethod: given('The name of the auth method.', text()),
  BearerToken: given('The token that proves the identity of the client.', text()),
  Meta: given('Labels that become part of the description of the token.', labels),
  Namespace: given('The namespace of the auth method.', text()),
});
export type LoginBody = Normal<typeof LOGIN>;

export const BOOTSTRAP = bodyOf({
  BootstrapSecret: given(
    'The SecretID of the first token, a UUID. By default, the server generates one.',
    text(),
  ),
});
export type BootstrapBody = Normal<typeof BOOTSTRAP>;

/** The body of a preview of a templated policy: the variables of the template. */
export const PREVIEW_VARIABLES = templateVariables;

const TEMPLATE = shape({
  TemplateName: keep('The name of the template.', word),
  Schema: keep('The JSON Schema of its variables, as text. Empty if it has none.', word),
  Template: keep('The rules, with placeholders for the variables.', word),
  Description: keep('What the template grants.', word),
});

/** A policy that a template yields. */
const PREVIEW = shape({
  ID: keep('The ID of the policy. It is not stored.', word),
  Name: keep('The name of the policy.', word),
  Description: keep('Where the policy comes from.', word),
  Rules: keep('The rules.', word),
  Datacenters: omit('The datacenters in which it applies.', items(word)),
  Hash: keep('A hash of the content.', word),
  CreateIndex: keep('Always 0.', whole64),
  ModifyIndex: keep('Always 0.', whole64),
});

const AUTHORIZED = rows({
  Resource: keep('The resource.', word),
  Access: keep('The access.', word),
  Segment: omit('The name of the resource.', word),
  Allow: keep('Whether the access is allowed.', boolean),
});

export type Template = Normal<typeof TEMPLATE>;

export const TOKEN_OPERATIONS = tagged('acl', {
  'POST /v1/internal/acl/authorize': read('authorize', {
    says: 'Checks what the token of the request may do.',
    tag: 'explain',
    body: AUTHORIZE,
    answers: ok('The decisions.', AUTHORIZED),
  }),
  'PUT /v1/acl/bootstrap': write('bootstrap', {
    says: 'Creates the first management token, once.',
    tag: 'login',
    body: 'BootstrapBody',
    isBodyOptional: true,
    answers: ok('The token.', 'BootstrapToken'),
    refuses: [409],
  }),
  'GET /v1/acl/token/self': read('readOwnToken', {
    says: 'Reads the token of the request.',
    answers: ok('The token.', 'Token', 'index'),
    blocks: true,
  }),
  'PUT /v1/acl/token/:accessor/clone': write('cloneToken', {
    says: 'Copies a token with new IDs. Only the description in the body is used.',
    body: 'TokenBody',
    answers: ok('The token.', 'Token'),
    refuses: [409],
    rights: ['acl:write'],
  }),
  'POST /v1/acl/login': write('login', {
    says: 'Logs in with an auth method, which creates a token.',
    tag: 'login',
    body: 'LoginBody',
    answers: ok('The token.', 'Token'),
    refuses: [401, 409],
  }),
  'POST /v1/acl/logout': write('logout', {
    says: 'Deletes the token of the request, which must come from a login.',
    tag: 'login',
    answers: ok('The operation succeeded.', { schema: { type: ['boolean', 'null'] } }),
    refuses: [401],
  }),
  'GET /v1/acl/templated-policies': read('listTemplatedPolicies', {
    says: 'Lists the built-in templates.',
    answers: ok('The templates by name.', mapOf(TEMPLATE)),
    rights: ['acl:read'],
  }),
  'GET /v1/acl/templated-policy/name/:name': read('readTemplatedPolicy', {
    says: 'Reads a built-in template.',
    answers: ok('The template.', TEMPLATE),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/templated-policy/preview/:name': read('previewTemplatedPolicy', {
    says: 'Fills in a template and returns the resulting policy.',
    body: PREVIEW_VARIABLES,
    answers: ok('The policy.', PREVIEW),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
