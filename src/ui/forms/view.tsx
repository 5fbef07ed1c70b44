/** A form over a JSON text, and the text beside it. What is typed in one shows in the other. */
import { useRef, useState } from 'preact/hooks';
import { type FieldProps, TextField } from '../parts/field.js';
import type { Known } from '../schema/editor-help.js';
import { JsonField } from '../schema/json-field.js';
import { TEXT } from '../texts.js';
import {
  type ChoicePart,
  type Json,
  type Layout,
  objectIn,
  type PairsPart,
  type Part,
  valueAt,
  withValue,
  wordsOf,
} from './layout.js';
import { Rows } from './rows.js';
import { type PartProps, Single } from './single.js';
import { isNamedTwice, useTyped } from './typed.js';

/** The form, and the JSON beside it. While the text is no JSON, the form waits. */
export function LaidOutField({
  layout,
  known,
  ...field
}: FieldProps & { layout: Layout; known: Known }) {
  const { value, onInput, isDisabled } = field;
  const object = objectIn(value);
  const last = useRef<Json>({});
  if (object !== undefined) last.current = object;
  const sentenceOf = (at: string): string | undefined => {
    const { body, member } = known;
    const path = [...(member === undefined ? [] : [member]), ...at.split('.')];
    return path.reduce((schema, name) => schema?.properties?.[name], body)?.description;
  };
  return (
    <div class="sides laid-out">
      <div>
        {object === undefined && <p class="notice warn">{TEXT.layout.broken}</p>}
        {layout.map((part) => (
          <PartView
            key={'at' in part ? part.at : part.label}
            part={part}
            object={last.current}
            isDisabled={isDisabled || object === undefined}
            sentenceOf={sentenceOf}
            onChange={(next) => onInput(JSON.stringify(next, null, 2))}
          />
        ))}
      </div>
      <div>
        <JsonField {...field} known={known} />
      </div>
    </div>
  );
}

function PartView({ part, ...rest }: PartProps<Part>) {
  if (part.is === 'pairs') return <Pairs part={part} {...rest} />;
  if (part.is === 'rows') return <Rows part={part} {...rest} />;
  if (part.is === 'choice') return <Choice part={part} {...rest} />;
  return <Single part={part} {...rest} />;
}

type Pairs = readonly (readonly [name: string, value: unknown])[];

/** Names and texts. */
function Pairs({ part, object, isDisabled, onChange, sentenceOf }: PartProps<PairsPart>) {
  const { at, columns } = part;
  const stored: Pairs = Object.entries((valueAt(object, at) ?? {}) as Json);
  const [pairs, setTyped] = useTyped(stored, Object.fromEntries);
  const change = (next: Pairs): void => {
    setTyped(next);
    onChange(withValue(object, at, next.length === 0 ? undefined : Object.fromEntries(next)));
  };
  const label = wordsOf(at);
  return (
    <fieldset class="items table" disabled={isDisabled}>
      <legend>{label}</legend>
      {sentenceOf(at) && <p class="help">{sentenceOf(at)}</p>}
      {pairs.map(([name, value], nth) => (
        <div class="row fields item" key={nth}>
          {[name, String(value)].map((text, column) => (
            <TextField
              key={columns[column]}
              label={columns[column]!}
              value={text}
              error={column === 0 && isNamedTwice(pairs, nth) ? TEXT.layout.twice : undefined}
              onInput={(to) => change(pairs.with(nth, column === 0 ? [to, value] : [name, to]))}
            />
          ))}
          <button
            type="button"
            aria-label={TEXT.form.remove(name || label)}
            onClick={() => change(pairs.toSpliced(nth, 1))}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={isDisabled || pairs.some(([name]) => name === '')}
        onClick={() => change([...pairs, ['', '']])}
      >
        {TEXT.layout.addTo(label)}
      </button>
    </fieldset>
  );
}

/** Choices of which one is taken. Another one removes the members of the first. */
function Choice({ part, object, ...rest }: PartProps<ChoicePart>) {
  const { label, choices } = part;
  const found = choices.findIndex(({ parts }) =>
    parts.some(({ at }) => valueAt(object, at) !== undefined),
  );
  const [chosen, setChosen] = useState(Math.max(0, found));
  const at = found < 0 ? chosen : found;
  const choose = (nth: number): void => {
    setChosen(nth);
    const others = choices.filter((_, other) => other !== nth).flatMap(({ parts }) => parts);
    rest.onChange(others.reduce((next, each) => withValue(next, each.at, undefined), object));
  };
  return (
    <fieldset class="items choice-of" disabled={rest.isDisabled}>
      <legend>{label}</legend>
      <div class="row">
        {choices.map((choice, nth) => (
          <label key={choice.label}>
            <input type="radio" name={label} checked={nth === at} onChange={() => choose(nth)} />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
      {choices[at]!.parts.map((each) => (
        <Single key={each.at} part={each} object={object} {...rest} />
      ))}
    </fieldset>
  );
}
