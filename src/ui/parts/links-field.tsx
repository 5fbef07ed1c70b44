/** A field for links to policies or roles, by name. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { linesOf } from '../objects/lines.js';
import { TEXT } from '../texts.js';
import type { FieldProps } from './field.js';
import { fromList } from './list-picker.js';
import { Picker } from './picker.js';

/** Makes a field invalid that holds a name: its form would be sent without it. */
function useComplete(input: RefObject<HTMLInputElement | null>, typed: string): void {
  useLayoutEffect(() => {
    input.current?.setCustomValidity(typed.trim() === '' ? '' : TEXT.form.notAdded);
  }, [typed]);
}

/** Chosen names with a button each, and a text field that offers others. */
export function LinksField({
  list,
  namespace,
  value,
  onInput,
  ...texts
}: FieldProps & { list: string; namespace?: string | undefined }) {
  const { label, isDisabled } = texts;
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const chosen = linesOf(value);
  useComplete(input, typed);
  const add = (name: string): void => {
    if (name !== '' && !chosen.includes(name)) onInput([...chosen, name].join('\n'));
    setTyped('');
  };
  const remove = (name: string): void => {
    onInput(chosen.filter((each) => each !== name).join('\n'));
    input.current?.focus();
  };
  return (
    <div class="links-field">
      <Picker
        {...texts}
        {...fromList(list, namespace)}
        input={input}
        value={typed}
        onInput={setTyped}
        onTake={(offer) => add(offer.value)}
        onEnter={() => add(typed.trim())}
      />
      <Chips label={label} names={chosen} isDisabled={isDisabled} onRemove={remove} />
    </div>
  );
}

function Chips({
  label,
  names,
  isDisabled,
  onRemove,
}: {
  label: string;
  names: readonly string[];
  isDisabled: boolean | undefined;
  onRemove: (name: string) => void;
}) {
  if (names.length === 0) return null;
  return (
    <ul class="chips" aria-label={TEXT.form.chosen(label)}>
      {names.map((name) => (
        <li key={name}>
          {name}
          <button
            type="button"
            disabled={isDisabled}
            aria-label={TEXT.form.remove(name)}
            onClick={() => onRemove(name)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
