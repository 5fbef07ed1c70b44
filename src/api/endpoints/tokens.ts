/** Tokens besides what all ACL objects have: batches of questions, logins and templates. */
import {
  always,
  bodyOf,
  boolean,
  ifSent,
  items,
  labels,
  type Normal,
  nonEmpty,
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
    Resource: ifSent('The resource, such as service or key.', text()),
    Access: ifSent('The access, such as read or write.', text()),
    Segment: ifSent('The name of the resource. Omitted for resources without names.', text()),
  }),
);

export const LOGIN = bodyOf({
  AuthMethod: ifSent('The name of the auth method.', text()),
  BearerToken: ifSent('The token that proves the identity of the client.', text()),
  Meta: ifSent('Labels that become part of the description of the token.', labels),
  Namespace: ifSent('The namespace of the auth method.', text()),
});
export type LoginBody = Normal<typeof LOGIN>;

export const BOOTSTRAP = bodyOf({
  BootstrapSecret: ifSent(
    'The SecretID of the first token, a UUID. By default, the server generates one.',
    text(),
  ),
});
export type BootstrapBody = Normal<typeof BOOTSTRAP>;

/** The body of a preview of a templated policy: the variables of the template. */
export const PREVIEW_VARIABLES = templateVariables;

const TEMPLATE = shape({
  TemplateName: always('The name of the template.', word),
  Schema: always('The JSON Schema of its variables, as text. Empty if it has none.', word),
  Template: always('The rules, with placeholders for the variables.', word),
  Description: always('What the template grants.', word),
});

/** A policy that a template yields. */
const PREVIEW = shape({
  ID: always('The ID of the policy. It is not stored.', word),
  Name: always('The name of the policy.', word),
  Description: always('Where the policy comes from.', word),
  Rules: always('The rules.', word),
  Datacenters: nonEmpty('The datacenters in which it applies.', items(word)),
  Hash: always('A hash of the content.', word),
  CreateIndex: always('Always 0.', whole64),
  ModifyIndex: always('Always 0.', whole64),
});

const AUTHORIZED = rows({
  Resource: always('The resource.', word),
  Access: always('The access.', word),
  Segment: nonEmpty('The name of the resource.', word),
  Allow: always('Whether the access is allowed.', boolean),
});

export type Template = Normal<typeof TEMPLATE>;

export const TOKEN_OPERATIONS = tagged('acl', {
  'POST /v1/internal/acl/authorize': read('authorize', {
    description: 'Checks what the token of the request may do.',
    tag: 'explain',
    body: AUTHORIZE,
    answers: ok('The decisions.', AUTHORIZED),
  }),
  'PUT /v1/acl/bootstrap': write('bootstrap', {
    description: 'Creates the first management token, once.',
    tag: 'login',
    body: 'BootstrapBody',
    isBodyOptional: true,
    answers: ok('The token.', 'BootstrapToken'),
    refuses: [409],
  }),
  'GET /v1/acl/token/self': read('readOwnToken', {
    description: 'Reads the token of the request.',
    answers: ok('The token.', 'Token', 'index'),
    blocks: true,
  }),
  'PUT /v1/acl/token/:accessor/clone': write('cloneToken', {
    description: 'Copies a token with new IDs. Only the description in the body is used.',
    body: 'TokenBody',
    answers: ok('The token.', 'Token'),
    refuses: [409],
    rights: ['acl:write'],
  }),
  'POST /v1/acl/login': write('login', {
    description: 'Logs in with an auth method, which creates a token.',
    tag: 'login',
    body: 'LoginBody',
    answers: ok('The token.', 'Token'),
    refuses: [401, 409],
  }),
  'POST /v1/acl/logout': write('logout', {
    description: 'Deletes the token of the request, which must come from a login.',
    tag: 'login',
    answers: ok('The operation succeeded.', { schema: { type: ['boolean', 'null'] } }),
    refuses: [401],
  }),
  'GET /v1/acl/templated-policies': read('listTemplatedPolicies', {
    description: 'Lists the built-in templates.',
    answers: ok('The templates by name.', mapOf(TEMPLATE)),
    rights: ['acl:read'],
  }),
  'GET /v1/acl/templated-policy/name/:name': read('readTemplatedPolicy', {
    description: 'Reads a built-in template.',
    answers: ok('The template.', TEMPLATE),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/templated-policy/preview/:name': read('previewTemplatedPolicy', {
    description: 'Fills in a template and returns the resulting policy.',
    body: PREVIEW_VARIABLES,
    answers: ok('The policy.', PREVIEW),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
