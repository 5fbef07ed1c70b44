/** The operations on tokens besides those of all ACL objects, logins, explanations and lint. */

import { given, text } from '../../languages/fields.js';
import {
  AUTHORIZED,
  DECISION,
  EFFECTIVE,
  EXPLAINED,
  FINDINGS,
  LINT,
  LOGIN_EXPLAINED,
  PREVIEW,
  TEMPLATE,
  TEMPLATES,
  WHO,
} from '../answers/acl-answers.js';
import { POLICY_LINT, RULE_LINT } from '../bodies/lint.js';
import { AUTHORIZE, EXPLAIN, LOGIN_EXPLAIN, WHO_CAN } from '../bodies/questions.js';
import { PREVIEW_VARIABLES } from '../bodies/templates.js';
import { BLOCKING } from './common.js';
import type { Operations } from './types.js';

/** Lint also judges a rule whose BindType is missing or unknown. */
const LINTED_RULE = {
  ...RULE_LINT.fields,
  BindType: given(RULE_LINT.fields.BindType.says, text()),
};

const TOKEN = { says: 'The token.', content: { ref: 'Token' } } as const;

/** The operations on tokens, logins and bootstrap. */
export const TOKEN_OPERATIONS = {
  '/v1/acl/bootstrap': {
    PUT: {
      id: 'bootstrap',
      tag: 'login',
      says: 'Creates the first management token, once.',
      does: 'write',
      body: { content: { ref: 'BootstrapBody' }, optional: true },
      answers: { 200: { says: 'The token.', content: { ref: 'BootstrapToken' } } },
      refuses: [409],
    },
  },
  '/v1/acl/token/self': {
    GET: {
      id: 'readOwnToken',
      tag: 'acl',
      says: 'Reads the token of the request.',
      does: 'read',
      query: [...BLOCKING],
      answers: { 200: { ...TOKEN, headers: ['index'] } },
      blocks: true,
    },
  },
  '/v1/acl/token/:accessor/clone': {
    PUT: {
      id: 'cloneToken',
      tag: 'acl',
      says: 'Copies a token with new IDs. Only the description in the body is used.',
      does: 'write',
      body: { content: { ref: 'TokenBody' } },
      answers: { 200: TOKEN },
      refuses: [409],
      rights: ['acl:write'],
    },
  },
  '/v1/acl/login': {
    POST: {
      id: 'login',
      tag: 'login',
      says: 'Logs in with an auth method, which creates a token.',
      does: 'write',
      body: { content: { ref: 'LoginBody' } },
      answers: { 200: TOKEN },
      refuses: [401],
    },
  },
  '/v1/acl/logout': {
    POST: {
      id: 'logout',
      tag: 'login',
      says: 'Deletes the token of the request, which must come from a login.',
      does: 'write',
      answers: {
        200: {
          says: 'The operation succeeded.',
          content: { schema: { type: ['boolean', 'null'] } },
        },
      },
      refuses: [401],
    },
  },
  '/v1/acl/templated-policies': {
    GET: {
      id: 'listTemplatedPolicies',
      tag: 'acl',
      says: 'Lists the built-in templates.',
      does: 'read',
      answers: { 200: { says: 'The templates by name.', content: { type: TEMPLATES } } },
      rights: ['acl:read'],
    },
  },
  '/v1/acl/templated-policy/name/:name': {
    GET: {
      id: 'readTemplatedPolicy',
      tag: 'acl',
      says: 'Reads a built-in template.',
      does: 'read',
      answers: { 200: { says: 'The template.', content: { type: TEMPLATE } } },
      refuses: [404],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/templated-policy/preview/:name': {
    POST: {
      id: 'previewTemplatedPolicy',
      tag: 'acl',
      says: 'Fills in a template and returns the resulting policy.',
      does: 'read',
      body: { content: { type: PREVIEW_VARIABLES } },
      answers: { 200: { says: 'The policy.', content: { type: PREVIEW } } },
      refuses: [404, 413],
      rights: ['acl:read'],
    },
  },
} as const satisfies Operations;

const index = ['index'] as const;

/** The operations that explain and lint. */
export const EXPLAIN_OPERATIONS = {
  '/v1/acl/policy/lint': {
    POST: {
      id: 'lintPolicy',
      tag: 'explain',
      says: 'Lints rules, or a stored policy.',
      does: 'read',
      body: { content: { members: POLICY_LINT.fields } },
      answers: { 200: { says: 'What lint finds.', content: { type: LINT }, headers: index } },
      refuses: [404, 413],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/binding-rule/lint': {
    POST: {
      id: 'lintBindingRule',
      tag: 'explain',
      says: 'Lints a new or stored binding rule.',
      does: 'read',
      body: { content: { members: LINTED_RULE } },
      answers: { 200: { says: 'What lint finds.', content: { type: LINT }, headers: index } },
      refuses: [404, 413],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/lint': {
    GET: {
      id: 'lintCluster',
      tag: 'explain',
      says: 'Lints everything that is stored, and the relationships between objects.',
      does: 'read',
      query: ['severity'],
      answers: { 200: { says: 'What lint finds.', content: { type: FINDINGS }, headers: index } },
      rights: ['acl:read'],
    },
  },
  '/v1/acl/token/self/effective': {
    GET: {
      id: 'readOwnRights',
      tag: 'explain',
      says: 'Reads all rights of the token of the request, merged.',
      does: 'read',
      query: [...BLOCKING],
      answers: { 200: { says: 'The rights.', content: { type: EFFECTIVE }, headers: index } },
      refuses: [404],
      blocks: true,
    },
  },
  '/v1/acl/token/:accessor/effective': {
    GET: {
      id: 'readRights',
      tag: 'explain',
      says: 'Reads all rights of a token, merged.',
      does: 'read',
      query: [...BLOCKING],
      answers: { 200: { says: 'The rights.', content: { type: EFFECTIVE }, headers: index } },
      refuses: [404],
      rights: ['acl:read'],
      blocks: true,
    },
  },
  '/v1/acl/decision/:id': {
    GET: {
      id: 'readDecision',
      tag: 'explain',
      says: 'Explains why a request was refused, by the decision ID in the header of the refusal.',
      does: 'read',
      answers: { 200: { says: 'The decision.', content: { type: DECISION }, headers: index } },
      refuses: [404],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/authorize/explain': {
    POST: {
      id: 'explainAuthorization',
      tag: 'explain',
      says: 'Explains what a token, or a draft of one, may do.',
      does: 'read',
      body: { content: { members: EXPLAIN.fields } },
      answers: { 200: { says: 'The reasons.', content: { type: EXPLAINED }, headers: index } },
      refuses: [404, 413],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/who-can': {
    POST: {
      id: 'findWhoCan',
      tag: 'explain',
      says: 'Finds the tokens that are allowed a given access.',
      does: 'read',
      body: { content: { members: WHO_CAN.fields } },
      answers: { 200: { says: 'The tokens, in groups.', content: { type: WHO }, headers: index } },
      refuses: [413],
      rights: ['acl:read'],
    },
  },
  '/v1/acl/login/explain': {
    POST: {
      id: 'explainLogin',
      tag: 'explain',
      says: 'Explains the outcome of a login. Nothing is written.',
      does: 'read',
      body: { content: { members: LOGIN_EXPLAIN.fields } },
      answers: { 200: { says: 'The login.', content: { type: LOGIN_EXPLAINED }, headers: index } },
      refuses: [404, 413],
      rights: ['acl:read'],
    },
  },
  '/v1/internal/acl/authorize': {
    POST: {
      id: 'authorize',
      tag: 'explain',
      says: 'Checks what the token of the request may do.',
      does: 'read',
      body: { content: { type: AUTHORIZE } },
      answers: { 200: { says: 'The decisions.', content: { type: AUTHORIZED } } },
      refuses: [413],
    },
  },
} as const satisfies Operations;
