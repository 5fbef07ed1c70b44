import { expect } from 'chai';
import { DecisionCounts } from '../../src/metrics/decisions.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { parts } from './parts.js';

describe('metrics of decisions', () => {
  it('count by decision, code and type of subject, whatever words applications have', () => {
    const decisions = new DecisionCounts();
    const denied = { decision: false, code: 'denied' };
    decisions.count({ decision: true, code: 'allowed', subjectType: 'jwt' }, 64);
    decisions.count({ decision: true, code: 'allowed', subjectType: 'jwt' }, 1);
    for (const subjectType of ['user', 'a"b', '']) decisions.count({ ...denied, subjectType }, 1);
    decisions.took(0.002);
    for (const result of ['known', 'known', 'refused'] as const) decisions.checked(result);
    const text = new Metrics(parts({ decisions })).prometheus();
    for (const line of [
      'conclave_decisions_total{decision="true",code="allowed",subject_type="jwt"} 65',
      'conclave_decisions_total{decision="false",code="denied",subject_type="other"} 3',
      'conclave_decision_seconds_count 1',
      'conclave_decision_seconds_bucket{le="0.0025"} 1',
      'conclave_jwt_checks_total{result="known"} 2',
      'conclave_jwt_checks_total{result="valid"} 0',
      'conclave_jwt_checks_total{result="refused"} 1',
    ])
      expect(text.split('\n'), line).to.include(line);
    expect(text).not.to.include('a\\"b');
  });
});
