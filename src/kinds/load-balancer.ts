/** The `LoadBalancer` of a service-resolver. */

import {
  boolean,
  duration,
  given,
  list,
  type Normal,
  object,
  omit,
  text,
  uint32,
} from '../languages/fields.js';
import type { Path } from './common.js';
import { type Problem, problem } from './problems.js';

const POLICIES = ['', 'random', 'round_robin', 'least_request', 'ring_hash', 'maglev'];
const HASH_POLICIES = ['ring_hash', 'maglev'];
const HASH_FIELDS = ['header', 'cookie', 'query_parameter'];

const hashPolicy = object({
  Field: omit('What is hashed.', text({ values: ['', ...HASH_FIELDS] })),
  FieldValue: omit('The name of the header, cookie or query parameter.', text(), 'field_value'),
  CookieConfig: given(
    'The cookie that is set where a request has none.',
    object({
      Session: omit('Whether the cookie ends with the session of the client.', boolean),
      TTL: omit('How long the cookie lasts.', duration),
      Path: omit('The path of the cookie.', text()),
    }),
    'cookie_config',
  ),
  SourceIP: omit('Whether the address of the client is hashed.', boolean, 'source_ip'),
  Terminal: omit('Whether policies that follow are left out once this one gives a hash.', boolean),
});

/** The field `LoadBalancer`. */
export const loadBalancer = object({
  Policy: omit('How an instance is chosen for a request.', text({ values: POLICIES })),
  RingHashConfig: given(
    'Settings of ring_hash.',
    object({
      MinimumRingSize: omit(
        'The smallest number of entries of the ring.',
        uint32,
        'minimum_ring_size',
      ),
      MaximumRingSize: omit(
        'The largest number of entries of the ring.',
        uint32,
        'maximum_ring_size',
      ),
    }),
    'ring_hash_config',
  ),
  LeastRequestConfig: given(
    'Settings of least_request.',
    object({
      ChoiceCount: omit(
        'How many instances are compared for each request.',
        uint32,
        'choice_count',
      ),
    }),
    'least_request_config',
  ),
  HashPolicies: omit(
    'What is hashed, for ring_hash and maglev.',
    list(hashPolicy),
    'hash_policies',
  ),
});

/** Checks a `LoadBalancer`; undefined is accepted. */
export function* loadBalancerProblems(
  value: Normal<typeof loadBalancer> | undefined,
): Iterable<Problem> {
  if (value === undefined) return;
  const policy = value.Policy ?? '';
  const quoted = JSON.stringify(policy);
  const path: Path = ['LoadBalancer'];
  if (!POLICIES.includes(policy)) {
    yield problem(`Bad LoadBalancer policy: ${quoted} is not supported`, ...path, 'Policy');
  }
  const incompatible = (field: string): Problem =>
    problem(
      `Bad LoadBalancer configuration. ${field} specified for incompatible load balancing policy ${quoted}`,
      ...path,
      field,
    );
  if (value.RingHashConfig !== undefined && policy !== 'ring_hash') {
    yield incompatible('RingHashConfig');
  }
  if (value.LeastRequestConfig !== undefined && policy !== 'least_request') {
    yield incompatible('LeastRequestConfig');
  }
  if (value.HashPolicies !== undefined && !HASH_POLICIES.includes(policy)) {
    yield problem(
      `Bad LoadBalancer configuration: HashPolicies specified for non-hash-based Policy: ${quoted}`,
      ...path,
      'HashPolicies',
    );
  }
  for (const [i, one] of (value.HashPolicies ?? []).entries()) {
    for (const [message, field] of hashPolicyFaults(one)) {
      const at = `Bad LoadBalancer HashPolicy[${i}]: `;
      yield problem(at + message, ...path, 'HashPolicies', i, field);
    }
  }
}

function* hashPolicyFaults(one: Normal<typeof hashPolicy>): Iterable<[string, string]> {
  const { Field: field, FieldValue: value, CookieConfig: cookie, SourceIP: source } = one;
  const quoted = JSON.stringify(field ?? '');
  if (field !== undefined && !HASH_FIELDS.includes(field)) {
    yield [`${quoted} is not a supported field`, 'Field'];
  }
  if (source === true && field !== undefined) {
    yield [`A single hash policy cannot hash both a source address and a ${quoted}`, 'SourceIP'];
  }
  if (source === true && value !== undefined) {
    yield ['A FieldValue cannot be specified when hashing SourceIP', 'FieldValue'];
  }
  if (field !== undefined && value === undefined) {
    yield [`Field ${quoted} was specified without a FieldValue`, 'FieldValue'];
  }
  if (field === undefined && value !== undefined) {
    yield ['FieldValue requires a Field to apply to', 'Field'];
  }
  if (cookie === undefined) return;
  if (field !== 'cookie') yield [`cookie_config provided for ${quoted}`, 'CookieConfig'];
  if (cookie.Session === true && cookie.TTL !== undefined) {
    yield ['a session cookie cannot have an associated TTL', 'CookieConfig'];
  }
}
