/** The fields of a question about rights. */
import type { Question } from '../api/types.js';
import { TextField } from '../parts/field.js';
import { offersFrom, Picker } from '../parts/picker.js';
import { TEXT } from '../texts.js';

/** What there are rules about, and what they grant. */
const OFFERS: Partial<Record<keyof Question, readonly string[]>> = {
  Resource: [
    'acl',
    'agent',
    'event',
    'intention',
    'key',
    'keyring',
    'mesh',
    'node',
    'operator',
    'peering',
    'query',
    'service',
    'session',
  ],
  Access: ['read', 'write', 'list'],
};

/** Resource, access and segment. */
export function QuestionFields({
  question,
  onChange,
}: {
  question: Question;
  onChange: (question: Question) => void;
}) {
  return (
    <div class="row fields">
      {(['Resource', 'Access', 'Segment'] as const).map((member) => {
        const { label, help } = TEXT.question[member];
        const value = question[member] ?? '';
        const onInput = (typed: string): void => onChange({ ...question, [member]: typed });
        const field = { label, help, value, onInput };
        const offers = OFFERS[member];
        return offers === undefined ? (
          <TextField key={member} {...field} />
        ) : (
          <Picker key={member} {...field} source={member} offersOf={offersFrom(offers)} />
        );
      })}
    </div>
  );
}
