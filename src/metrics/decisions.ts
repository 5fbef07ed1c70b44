/** What a node decides for other programs: how often, how, and how long it takes. */
import type { CountedDecision } from '../http/routes/authzen.js';
import { OWN_TYPES } from '../service/acl/acl-configuration.js';
import { JWT_CHECKS, type JwtCheck } from '../service/decisions/proofs.js';
import { byLabel, counter, type Family, type Sample } from './families.js';
import { Histogram } from './histogram.js';

/** Seconds: from a decision by known rights to one that waits for an issuer. */
const BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Counts decisions. */
export class DecisionCounts {
  readonly #counts = new Map<string, { readonly labels: Sample['labels']; value: number }>();
  readonly #seconds = new Histogram(BOUNDS);
  readonly #checks = new Map(JWT_CHECKS.map((result) => [result, 0]));

  count({ decision, code, subjectType }: CountedDecision, times: number): void {
    // The words of applications are any number.
    const subject_type = OWN_TYPES.includes(subjectType) ? subjectType : 'other';
    const key = `${decision} ${code} ${subject_type}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.value += times;
    else {
      const labels = { decision: String(decision), code, subject_type };
      this.#counts.set(key, { labels, value: times });
    }
  }

  /** Notes how long a request for decisions took. */
  took(seconds: number): void {
    this.#seconds.observe(seconds);
  }

  /** Counts a JWT of a subject by what became of it. */
  checked(result: JwtCheck): void {
    this.#checks.set(result, this.#checks.get(result)! + 1);
  }

  get families(): readonly Family[] {
    return [
      {
        name: 'conclave_decisions_total',
        help: 'decisions for other programs',
        type: 'counter',
        samples: [...this.#counts.values()],
      },
      {
        name: 'conclave_decision_seconds',
        help: 'duration of requests for decisions',
        type: 'histogram',
        samples: [{ labels: {}, histogram: this.#seconds }],
      },
      counter(
        'conclave_jwt_checks_total',
        'JWTs of subjects of decisions',
        byLabel('result', this.#checks),
      ),
    ];
  }
}
