/** The moment that an explanation is about: a field for it, and what an answer says of it. */
import type { Problem } from '../api/problem.js';
import type { Explained } from '../api/types.js';
import { TextField } from '../parts/field.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';

/** A moment as an answer names it. */
type Moment = NonNullable<Explained['At']>;

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
      {TEXT.moment.asOf(at.Index)}, <Time at={at.Time} />
    </p>
  );

/** The oldest moment that can be asked about, where a problem says it. */
export function Oldest({ problem }: { problem: Problem | undefined }) {
  const oldest = problem?.details['Oldest'] as Moment | undefined;
  if (oldest === undefined) return null;
  return (
    <p>
      {TEXT.moment.oldest(oldest.Index)}, <Time at={oldest.Time} />
    </p>
  );
}
