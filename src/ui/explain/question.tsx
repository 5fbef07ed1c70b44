/** The fields of a question about rights. */
import type { Question } from '../api/types.js';
import { TextField } from '../parts/field.js';
import { TEXT } from '../texts.js';

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
        return <TextField key={member} {...{ label, help, value, onInput }} />;
      })}
    </div>
  );
}
