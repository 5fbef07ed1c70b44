/** A field for a list of small objects: a row of text fields for each. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Item } from '../objects/lines.js';
import { TEXT } from '../texts.js';
import { type FieldProps, TextField } from './field.js';
import { offersFrom, Picker } from './picker.js';

const linesIn = (value: string): string[] => (value === '' ? [] : value.split('\n'));

/** The rows. An item is one line of the value. */
export function ItemsField({
  item,
  label,
  error,
  errorAt = 0,
  value,
  onInput,
  isDisabled,
}: FieldProps & { item: Item }) {
  // What is typed is kept as it is typed: "dc1, " is not yet "dc1, dc2".
  const [rows, setRows] = useState(() => linesIn(value).map(item.split));
  const told = useRef(value);
  const group = useRef<HTMLFieldSetElement>(null);
  // Before more is typed: what the parent has is then older than what is shown.
  useLayoutEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setRows(linesIn(value).map(item.split));
  }, [value]);
  const change = (next: readonly (readonly string[])[]): void => {
    setRows([...next]);
    told.current = next.map(item.join).join('\n');
    onInput(told.current);
  };
  const add = (): void => {
    change([...rows, item.parts.map(() => '')]);
    // The new row is drawn first.
    setTimeout(() =>
      group.current?.querySelector<HTMLElement>('.item:last-of-type input')?.focus(),
    );
  };
  return (
    <fieldset class="items" ref={group} disabled={isDisabled}>
      <legend class={rows.length === 0 ? 'hidden' : undefined}>{label}</legend>
      {rows.map((row, nth) => (
        <Row
          key={nth}
          item={item}
          row={row}
          error={nth === errorAt ? error : undefined}
          onChange={(next) => change(rows.with(nth, next))}
          onRemove={() => change(rows.toSpliced(nth, 1))}
        />
      ))}
      <button type="button" onClick={add}>
        {TEXT.form.addOne(item.noun)}
      </button>
      {error !== undefined && rows[errorAt] === undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

function Row({
  item,
  row,
  error,
  onChange,
  onRemove,
}: {
  item: Item;
  row: readonly string[];
  error: string | undefined;
  onChange: (row: readonly string[]) => void;
  onRemove: () => void;
}) {
  return (
    <div class="row fields item">
      {item.parts.map(({ label, isRequired, offers }, part) => {
        const onInput = (text: string): void => onChange(row.with(part, text));
        const value = row[part] ?? '';
        const field = { label, isRequired, value, onInput, ...(part === 0 && { error }) };
        return offers === undefined ? (
          <TextField key={label} {...field} />
        ) : (
          <Picker key={label} {...field} source={label} offersOf={offersFrom(offers)} />
        );
      })}
      <button
        type="button"
        aria-label={TEXT.form.remove(item.join(row) || item.noun)}
        onClick={onRemove}
      >
        ×
      </button>
    </div>
  );
}
