/** Earlier moments that the API can be asked about: an index or a time. */
import { CliError } from '../print/error.js';
import { localTime } from '../print/text.js';

/** A moment: an index, and the time of the entry there. */
export interface Moment {
  readonly Index: number;
  readonly Time: string | null;
}

/** Returns a moment in words. */
export const momentText = ({ Index, Time }: Moment): string =>
  Time === null ? `index ${Index}` : `index ${Index} (${localTime(Time)})`;

/** Reads an earlier state. If it is no longer known, the error names the oldest known moment. */
export async function asOf<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const oldest = error instanceof CliError ? error.details.problem?.['Oldest'] : undefined;
    if (!(error instanceof CliError) || typeof oldest !== 'object' || oldest === null) throw error;
    const hint = `the oldest moment that is known is ${momentText(oldest as Moment)}`;
    throw new CliError(error.message, { ...error.details, hint });
  }
}
