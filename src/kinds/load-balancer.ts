/** The `LoadBalancer` of a service-resolver. */

import {
  boolean,
  duration,
  ifSent,
  list,
  type Normal,
  nonEmpty,
  object,
  text,
  uint32,
} from '../languages/fields.js';
import { all, among, excludes, needs, not, rule, ruled, set, when } from '../languages/rules.js';
import type { Path } from './common.js';
import { type Problem, problem } from './problems.js';

const POLICIES = ['', 'random', 'round_robin', 'least_request', 'ring_hash', 'maglev'];
const HASH_POLICIES = ['ring_hash', 'maglev'];
const HASH_FIELDS = ['header', 'cookie', 'query_parameter'];

const ringOfRingHash = rule(
  'RingHashConfig is for the policy ring_hash.',
  when(set('RingHashConfig'), among('Policy', 'ring_hash')),
);
const choicesOfLeastRequest = rule(
  'LeastRequestConfig is for the policy least_request.',
  when(set('LeastRequestConfig'), among('Policy', 'least_request')),
);
const hashesOfHashing = rule(
  'HashPolicies are for the policies ring_hash and maglev.',
  when(set('HashPolicies'), among('Policy', ...HASH_POLICIES)),
);

const sourceOrField = excludes('SourceIP', 'Field');
const sourceOrValue = excludes('SourceIP', 'FieldValue');
const valueOfField = needs('Field', 'FieldValue');
const fieldOfValue = needs('FieldValue', 'Field');
const cookieSettings = rule(
  'CookieConfig is for the field cookie.',
  when(set('CookieConfig'), among('Field', 'cookie')),
);
const sessionOrTtl = rule(
  'A cookie of a session has no TTL.',
  not(all(set('Session'), set('TTL'))),
);
const hashPolicy = object({
  Field: nonEmpty('What is hashed.', text({ values: ['', ...HASH_FIELDS] })),
  FieldValue: nonEmpty('The name of the header, cookie or query parameter.', text(), 'field_value'),
  CookieConfig: ifSent(
    'The cookie to set if a request has none.',
    ruled(
      object({
        Session: nonEmpty('Whether the cookie expires with the session of the client.', boolean),
        TTL: nonEmpty('How long the cookie lasts.', duration),
        Path: nonEmpty('The path of the cookie.', text()),
      }),
      sessionOrTtl,
    ),
    'cookie_config',
  ),
  SourceIP: nonEmpty('Whether the address of the client is hashed.', boolean, 'source_ip'),
  Terminal: nonEmpty('Whether later policies are skipped once this one yields a hash.', boolean),
});

const balancer = object({
  Policy: nonEmpty('How an instance is chosen for a request.', text({ values: POLICIES })),
  RingHashConfig: ifSent(
    'Settings of ring_hash.',
    object({
      MinimumRingSize: nonEmpty(
        'The minimum number of entries in the ring.',
        uint32,
        'minimum_ring_size',
      ),
      MaximumRingSize: nonEmpty(
        'The maximum number of entries in the ring.',
        uint32,
        'maximum_ring_size',
      ),
    }),
    'ring_hash_config',
  ),
  LeastRequestConfig: ifSent(
    'Settings of least_request.',
    object({
      ChoiceCount: nonEmpty(
        'How many instances are compared for each request.',
        uint32,
        'choice_count',
      ),
    }),
    'least_request_config',
  ),
  HashPolicies: nonEmpty(
    'What is hashed, for ring_hash and maglev.',
    list(
      ruled(hashPolicy, sourceOrField, sourceOrValue, valueOfField, fieldOfValue, cookieSettings),
    ),
    'hash_policies',
  ),
});
/** The field `LoadBalancer`. */
export const loadBalancer = ruled(balancer, ringOfRingHash, choicesOfLeastRequest, hashesOfHashing);

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
  if (!ringOfRingHash.holds(value)) yield incompatible('RingHashConfig');
  if (!choicesOfLeastRequest.holds(value)) yield incompatible('LeastRequestConfig');
  if (!hashesOfHashing.holds(value)) {
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
  const { Field: field, CookieConfig: cookie } = one;
  const quoted = JSON.stringify(field ?? '');
  if (field !== undefined && !HASH_FIELDS.includes(field)) {
    yield [`${quoted} is not a supported field`, 'Field'];
  }
  if (!sourceOrField.holds(one)) {
    yield [`A single hash policy cannot hash both a source address and a ${quoted}`, 'SourceIP'];
  }
  if (!sourceOrValue.holds(one)) {
    yield ['A FieldValue cannot be specified when hashing SourceIP', 'FieldValue'];
  }
  if (!valueOfField.holds(one)) {
    yield [`Field ${quoted} was specified without a FieldValue`, 'FieldValue'];
  }
  if (!fieldOfValue.holds(one)) {
    yield ['FieldValue requires a Field to apply to', 'Field'];
  }
  if (!cookieSettings.holds(one)) {
    yield [`cookie_config provided for ${quoted}`, 'CookieConfig'];
  }
  if (cookie !== undefined && !sessionOrTtl.holds(cookie)) {
    yield ['a session cookie cannot have an associated TTL', 'CookieConfig'];
  }
}
