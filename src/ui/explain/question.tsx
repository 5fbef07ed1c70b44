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
  const { Resource, Access, Segment = '' } = question;
  return (
    <div class="row fields">
      <TextField
        label={TEXT.field.resource}
        help={TEXT.help.resource}
        value={Resource}
        onInput={(value) => onChange({ ...question, Resource: value })}
      />
      <TextField
        label={TEXT.field.access}
        help={TEXT.help.access}
        value={Access}
        onInput={(value) => onChange({ ...question, Access: value })}
      />
      <TextField
        label={TEXT.field.segment}
        help={TEXT.help.segment}
        value={Segment}
        onInput={(value) => onChange({ ...question, Segment: value })}
      />
    </div>
  );
}
