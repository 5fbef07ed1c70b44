/** Answers of the API, as far as the pages read them. */
import type { Candidate, Result, Rule } from '../../api/endpoints/explain.js';

export type {
  Decision,
  Effective,
  Explained,
  Group,
  Result,
  Right,
  Source,
  Step,
  WhoCan,
} from '../../api/endpoints/explain.js';
export type { Finding, Linted } from '../../api/endpoints/lint.js';

/** Any stored object. Forms know its other members. */
export interface Stored {
  readonly ModifyIndex: number;
  readonly CreateIndex: number;
  readonly [member: string]: unknown;
}

/** A rule that speaks about a question, and why it does not decide if it does not. */
export type SpeakingRule = Rule & Partial<Pick<Candidate, 'Why'>>;

/** A question about rights. */
export type Question = Pick<Result, 'Resource' | 'Access'> &
  Partial<Pick<Result, 'Segment' | 'Namespace'>>;
