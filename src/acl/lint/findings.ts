/** What lint finds in a text. */

/** `error`: a write would be refused. */
export type Severity = 'error' | 'warning' | 'info';
/** All severities, the most severe first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

/** One thing that lint finds, as answers show it. Lines and columns count from 1. */
export interface Finding {
  readonly Severity: Severity;
  readonly Code: string;
  readonly Message: string;
  /** The field with the text, of objects that have several. */
  readonly Field?: string;
  readonly Line: number;
  readonly Column: number;
  /** The claim that a warning is about. */
  readonly Claim?: string;
  /** A text that has not this problem. */
  readonly Fix?: string;
  readonly Hint?: string;
}

/** The answer of lint. */
export interface Lint {
  readonly Valid: boolean;
  readonly Problems: readonly Finding[];
  /** How many problems are left out; absent if none. */
  readonly More?: number;
}

/** Most problems of one answer. */
export const PROBLEMS_MAX = 1_000;

/** A generator of lint: it yields after each step of bounded work, and returns what it found. */
export type Linting<T> = Generator<void, T>;

/** Returns an answer: errors first if there are too many problems, in the order of the text. */
export function lintOf(problems: readonly Finding[]): Lint {
  const shown =
    problems.length <= PROBLEMS_MAX
      ? [...problems]
      : problems.toSorted(bySeverity).slice(0, PROBLEMS_MAX);
  const More = problems.length - shown.length;
  return {
    Valid: problems.every(({ Severity: severity }) => severity !== 'error'),
    Problems: shown.sort(byPlace),
    ...(More > 0 && { More }),
  };
}

const bySeverity = (a: Finding, b: Finding): number =>
  SEVERITIES.indexOf(a.Severity) - SEVERITIES.indexOf(b.Severity);
const byPlace = (a: Finding, b: Finding): number =>
  a.Line - b.Line || a.Column - b.Column || bySeverity(a, b);
