/** One member of a form over JSON. */
import { AreaField, CheckField, type FieldProps, SelectField, TextField } from '../parts/field.js';
import { TEXT } from '../texts.js';
import {
  type FieldPart,
  fieldValue,
  type Json,
  textOf,
  valueAt,
  withValue,
  wordsOf,
} from './layout.js';
import { useTyped } from './typed.js';

export interface PartProps<P> {
  readonly part: P;
  readonly object: Json;
  readonly isDisabled: boolean | undefined;
  readonly onChange: (object: Json) => void;
  /** Returns what a member is. */
  readonly sentenceOf: (at: string) => string | undefined;
}

/** One member. */
export function Single({ part, object, isDisabled, onChange, sentenceOf }: PartProps<FieldPart>) {
  const { is, at, label = wordsOf(at), options = [] } = part;
  const set = (value: unknown): void => onChange(withValue(object, at, value));
  const stored = valueAt(object, at);
  const [value, setTyped] = useTyped(textOf(part, stored), (text) => fieldValue(part, text));
  const field = {
    label,
    help: sentenceOf(at),
    isDisabled,
    value,
    onInput: (text: string) => {
      setTyped(text);
      set(fieldValue(part, text));
    },
  };
  if (is === 'check') return <CheckField {...field} />;
  if (is === 'select') return <SelectField {...field} options={['', ...options]} />;
  if (is === 'area') return <AreaField {...field} rows={4} />;
  if (is === 'list') return <AreaField {...field} rows={2} />;
  if (is === 'blocks') return <Blocks {...field} stored={stored} onBlocks={set} />;
  return <TextField {...field} />;
}

/** Longer texts, such as keys in PEM format, one in each field. */
function Blocks({
  label,
  help,
  isDisabled,
  stored,
  onBlocks,
}: Omit<FieldProps, 'value' | 'onInput'> & {
  stored: unknown;
  onBlocks: (blocks: readonly string[] | undefined) => void;
}) {
  const blocks = Array.isArray(stored) ? stored.map(String) : [];
  const shown = blocks.length === 0 ? [''] : blocks;
  const change = (next: readonly string[]): void =>
    onBlocks(next.length === 0 || next.join('') === '' ? undefined : next);
  return (
    <>
      {shown.map((block, nth) => (
        <AreaField
          key={nth}
          label={nth === 0 ? label : `${label} ${nth + 1}`}
          help={nth === 0 ? help : undefined}
          isDisabled={isDisabled}
          rows={5}
          value={block}
          onInput={(text) => change(shown.with(nth, text))}
        />
      ))}
      <button type="button" disabled={isDisabled} onClick={() => onBlocks([...shown, ''])}>
        {TEXT.layout.addBlock}
      </button>
    </>
  );
}
