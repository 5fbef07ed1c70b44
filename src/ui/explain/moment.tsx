/** The moment that an explanation is about: a field for it, and what an answer says of it. */
import type { Problem } from '../api/problem.js';
import { TextField } from '../parts/field.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';

/** A moment as an answer names it. */
export interface Moment {
  readonly Index: number;
  readonly Time: string | null;
}

/** An answer about the past names its moment. */
export interface OfMoment {
  readonly At?: Moment;
}

/** Which moment is asked about: an index, a time, or '' for now. */
export const MomentField = (props: { value: string; onInput: (value: string) => void }) => (
  <TextField label={TEXT.moment.at} help={TEXT.moment.help} {...props} />
);

/** Returns the parameters that ask about a moment. */
export const atQuery = (typed: string): { readonly at?: string } =>
  typed.trim() === '' ? {} : { at: typed.trim() };

/** The moment of an answer; nothing for the present. */
export const AsOf = ({ at }: { at: Moment | undefined }) =>
  at === undefined ? null : (
    <p>
      {TEXT.moment.asOf(at.Index)}, <Time at={at.Time ?? undefined} />
    </p>
  );

/** The oldest moment that can be asked about, where a problem says it. */
export function Oldest({ problem }: { problem: Problem | undefined }) {
  const oldest = problem?.details['Oldest'] as Moment | undefined;
  if (oldest === undefined) return null;
  return (
    <p>
      {TEXT.moment.oldest(oldest.Index)}, <Time at={oldest.Time ?? undefined} />
    </p>
  );
}
