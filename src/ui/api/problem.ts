/** What the server refused, and why. */

/** An answer that is an error: problem details of RFC 9457, as far as they were sent. */
export class Problem extends Error {
  /** 0 if the node could not be reached. */
  readonly status: number;
  /** A code of the API, or `unreachable`. */
  readonly code: string;
  readonly hint: string | undefined;
  /** The member of the body that is wrong, as a JSON pointer. */
  readonly pointer: string | undefined;
  /** `token`: a token that the request names does not exist. `level`: the cluster's is too low. */
  readonly about: string | undefined;
  /** The decision that refused the request. */
  readonly decision: string | undefined;
  /** All that was sent. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, details: Readonly<Record<string, unknown>>) {
    const text = (name: string): string | undefined => {
      const value = details[name];
      return typeof value === 'string' && value !== '' ? value : undefined;
    };
    super(text('detail') ?? `${status}`);
    this.status = status;
    this.details = details;
    this.code = text('code') ?? 'internal';
    this.hint = text('hint');
    this.pointer = text('pointer');
    this.about = text('about');
    this.decision = text('decision');
  }
}

/** Reads the problem of a response. */
export async function problemOf(response: Response): Promise<Problem> {
  const body = await response.text().catch(() => '');
  try {
    return new Problem(response.status, JSON.parse(body) as Record<string, unknown>);
  } catch {
    return new Problem(response.status, { detail: body.trim() });
  }
}

/** Returns any error as a problem. */
export const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, { detail: String(error), code: 'internal' });
