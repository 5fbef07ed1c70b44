/** Decisions for other programs, by the Authorization API 1.0 (AuthZEN). */
import type { JsonSchema } from '../document/text-schema.js';
import { ok, open, read, tagged } from './operation.js';

const text: JsonSchema = { type: 'string' };
const free: JsonSchema = { type: 'object' };
const object = (properties: Record<string, JsonSchema>, ...required: string[]): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

const entity = object({ type: text, id: text, properties: free }, 'type', 'id');
/** What is searched: its id is ignored. */
const sought = object({ type: text, properties: free }, 'type');
const action = object({ name: text, properties: free }, 'name');
const members = { subject: entity, action, resource: entity, context: free };
const page = object({ limit: { type: 'integer', minimum: 0, maximum: 1000 }, token: text });

const reason = object({ en: text });
const DECISION = object(
  {
    decision: { type: 'boolean' },
    context: object({
      id: text,
      code: text,
      reason_admin: reason,
      reason_user: reason,
      decision_id: text,
      index: { type: 'integer' },
      layer: text,
      truncated: { type: 'boolean' },
      error: object({ status: { type: 'integer' }, message: text }),
    }),
  },
  'decision',
);
const DECISIONS = object({ evaluations: { type: 'array', items: DECISION } }, 'evaluations');
const RESULTS = object(
  {
    page: object({
      next_token: text,
      count: { type: 'integer' },
      total: { type: 'integer' },
    }),
    results: { type: 'array', items: free },
    context: free,
  },
  'page',
  'results',
);
const CONFIGURATION = object({
  policy_decision_point: text,
  access_evaluation_endpoint: text,
  access_evaluations_endpoint: text,
  search_subject_endpoint: text,
  search_resource_endpoint: text,
  search_action_endpoint: text,
});

const RIGHTS = ['none for oneself, for a secret and for a JWT; acl:read for others'] as const;
const answer = (description: string, schema: JsonSchema) => ok(description, { schema }, 'index');

export const DECISION_OPERATIONS = tagged('Decisions', {
  'GET /.well-known/authzen-configuration': open('authzenConfiguration', {
    description: 'Says where decisions are made.',
    answers: ok('The addresses.', { schema: CONFIGURATION }),
    refuses: [404],
  }),
  'POST /access/v1/evaluation': read('evaluate', {
    description: 'Decides whether a subject may do something.',
    query: ['reasons'],
    body: { schema: object(members, 'subject', 'action', 'resource') },
    answers: answer('The decision.', DECISION),
    refuses: [401],
    rights: RIGHTS,
  }),
  'POST /access/v1/evaluations': read('evaluateAll', {
    description: 'Decides up to 256 questions on one state.',
    query: ['reasons'],
    body: {
      schema: object({
        ...members,
        evaluations: { type: 'array', items: free },
        options: object({ evaluations_semantic: text }),
      }),
    },
    answers: answer('The decisions; a single one for a request without items.', {
      anyOf: [DECISIONS, DECISION],
    }),
    refuses: [401],
    rights: RIGHTS,
  }),
  'POST /access/v1/search/subject': read('searchSubjects', {
    description: 'Finds who may do something.',
    query: ['reasons'],
    body: {
      schema: object({ ...members, subject: sought, page }, 'subject', 'action', 'resource'),
    },
    answers: answer('The subjects.', RESULTS),
    refuses: [401],
    rights: RIGHTS,
  }),
  'POST /access/v1/search/resource': read('searchResources', {
    description: 'Finds what a subject may do something to, as far as rules name it.',
    query: ['reasons'],
    body: {
      schema: object({ ...members, resource: sought, page }, 'subject', 'action', 'resource'),
    },
    answers: answer('The resources.', RESULTS),
    refuses: [401],
    rights: RIGHTS,
  }),
  'POST /access/v1/search/action': read('searchActions', {
    description: 'Finds what a subject may do to a resource.',
    query: ['reasons'],
    body: {
      schema: object(
        { subject: entity, resource: entity, context: free, page },
        'subject',
        'resource',
      ),
    },
    answers: answer('The actions.', RESULTS),
    refuses: [401],
    rights: RIGHTS,
  }),
});
