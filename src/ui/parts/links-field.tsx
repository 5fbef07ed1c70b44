/** A field for links to policies or roles, by name. */
import type { RefObject } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Link as LinkOf } from '../api/types.js';
import { filterOf } from '../lists/filter.js';
import { readItems } from '../lists/read-items.js';
import { linesOf } from '../objects/lines.js';
import { TEXT } from '../texts.js';
import { type FieldProps, Labelled } from './field.js';
import { useLoad, useSettled } from './load.js';

/** Names that are offered at a time. */
const OFFERED = 20;
const TYPING_MS = 200;

/** Reads names that a list has and that match what was typed. */
function useOffered(list: string, typed: string, ns: string | undefined): readonly string[] {
  const looked = useSettled(typed, TYPING_MS);
  const { value = [] } = useLoad(
    async (signal) => {
      const query = { filter: filterOf(looked, ['Name']) };
      const how = { query, signal, ns, once: true, size: OFFERED };
      const { items } = await readItems<LinkOf>(list, how);
      return items.map(({ Name = '' }) => Name);
    },
    [looked, list],
  );
  return value;
}

/** Makes a field invalid that holds a name: its form would be sent without it. */
function useComplete(input: RefObject<HTMLInputElement | null>, typed: string): void {
  useLayoutEffect(() => {
    input.current?.setCustomValidity(typed.trim() === '' ? '' : TEXT.form.notAdded);
  }, [typed]);
}

/** Enter would send the form. */
function onEnter(event: KeyboardEvent, run: () => void): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  run();
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
  const offered = useOffered(list, typed, namespace);
  const offers = useId();
  const chosen = linesOf(value);
  useComplete(input, typed);
  const add = (): void => {
    const name = typed.trim();
    if (name !== '' && !chosen.includes(name)) onInput([...chosen, name].join('\n'));
    setTyped('');
  };
  const remove = (name: string): void => {
    onInput(chosen.filter((each) => each !== name).join('\n'));
    input.current?.focus();
  };
  return (
    <Labelled {...texts}>
      {(ties) => (
        <>
          <Chips label={label} names={chosen} isDisabled={isDisabled} onRemove={remove} />
          <div class="row">
            <input
              {...ties}
              ref={input}
              list={offers}
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setTyped(event.currentTarget.value)}
              onKeyDown={(event) => onEnter(event, add)}
            />
            <button
              type="button"
              disabled={isDisabled}
              aria-label={TEXT.form.addTo(label)}
              onClick={add}
            >
              {TEXT.form.add}
            </button>
          </div>
          <datalist id={offers}>
            {offered.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Labelled>
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
