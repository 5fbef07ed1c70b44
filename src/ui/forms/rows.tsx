/** A list of objects as rows of fields. */
import { TextField } from '../parts/field.js';
import { TEXT } from '../texts.js';
import {
  evenShares,
  type Json,
  type RowsPart,
  rowsIn,
  valueAt,
  withRows,
  withValue,
  wordsOf,
} from './layout.js';
import { type PartProps, Single } from './single.js';
import { isNamedTwice, useTyped } from './typed.js';

type Row = readonly [name: string, row: Json];

/** The rows, with what moves and removes them. */
export function Rows({ part, object, isDisabled, onChange, sentenceOf }: PartProps<RowsPart>) {
  const { at, noun, key, percent } = part;
  const [rows, setTyped] = useTyped(rowsIn(object, part), (all) => withRows({}, part, all));
  const change = (next: readonly Row[]): void => {
    setTyped(next);
    onChange(withRows(object, part, next));
  };
  const label = wordsOf(at);
  return (
    <fieldset class="items table" disabled={isDisabled}>
      <legend>{label}</legend>
      {sentenceOf(at) && <p class="help">{sentenceOf(at)}</p>}
      {rows.map((row, nth) => (
        <RowFields
          key={nth}
          part={part}
          row={row}
          name={row[0] || `${noun} ${nth + 1}`}
          error={key !== undefined && isNamedTwice(rows, nth) ? TEXT.layout.twice : undefined}
          isDisabled={isDisabled}
          place={{ isFirst: nth === 0, isLast: nth === rows.length - 1 }}
          onChange={(next) => change(rows.with(nth, next))}
          onMove={(by) => change(rows.toSpliced(nth, 1).toSpliced(nth + by, 0, row))}
          onRemove={() => change(rows.toSpliced(nth, 1))}
        />
      ))}
      <button
        type="button"
        disabled={isDisabled || (key !== undefined && rows.some(([name]) => name === ''))}
        onClick={() => change([...rows, ['', {}]])}
      >
        {TEXT.form.addOne(noun)}
      </button>
      {percent !== undefined && rows.length > 0 && (
        <Sum
          rows={rows}
          of={percent}
          onEven={() => {
            const shares = evenShares(rows.length);
            change(rows.map(([name, row], nth) => [name, withValue(row, percent, shares[nth])]));
          }}
        />
      )}
    </fieldset>
  );
}

interface RowFieldsParts {
  readonly part: RowsPart;
  readonly row: Row;
  readonly name: string;
  /** What is wrong with the name. */
  readonly error: string | undefined;
  readonly isDisabled: boolean | undefined;
  readonly place: { readonly isFirst: boolean; readonly isLast: boolean };
  onChange(row: Row): void;
  onMove(by: number): void;
  onRemove(): void;
}

function RowFields({ part, row, name, error, isDisabled, place, ...on }: RowFieldsParts) {
  const { columns, key, isOrdered, counted } = part;
  return (
    <fieldset class="row fields item">
      <legend class="hidden">{name}</legend>
      {key !== undefined && (
        <TextField
          label={key}
          value={row[0]}
          error={error}
          onInput={(typed) => on.onChange([typed, row[1]])}
        />
      )}
      {columns.map((column) => (
        <Single
          key={column.at}
          part={column}
          object={row[1]}
          isDisabled={isDisabled}
          sentenceOf={() => undefined}
          onChange={(next) => on.onChange([row[0], next])}
        />
      ))}
      {counted !== undefined && <Counted of={valueAt(row[1], counted)} member={counted} />}
      {isOrdered && <Move name={name} {...place} onMove={on.onMove} />}
      <button type="button" aria-label={TEXT.form.remove(name)} onClick={on.onRemove}>
        ×
      </button>
    </fieldset>
  );
}

/** How many items a list has that only the JSON shows. */
function Counted({ of, member }: { of: unknown; member: string }) {
  const count = Array.isArray(of) ? of.length : 0;
  return count === 0 ? null : (
    <p class="help">
      {wordsOf(member)}: {count}
    </p>
  );
}

function Move({
  name,
  isFirst,
  isLast,
  onMove,
}: {
  name: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: number) => void;
}) {
  return (
    <>
      <button
        type="button"
        disabled={isFirst}
        aria-label={TEXT.layout.up(name)}
        onClick={() => onMove(-1)}
      >
        ↑
      </button>
      <button
        type="button"
        disabled={isLast}
        aria-label={TEXT.layout.down(name)}
        onClick={() => onMove(1)}
      >
        ↓
      </button>
    </>
  );
}

/** What the shares add up to, and what makes them equal. */
function Sum({ rows, of, onEven }: { rows: readonly Row[]; of: string; onEven: () => void }) {
  const sum = rows.reduce((all, [, row]) => all + (Number(valueAt(row, of)) || 0), 0);
  const shown = Math.round(sum * 100) / 100;
  return (
    <div class="row">
      <p role="status" class={shown === 100 ? 'quiet' : 'error'}>
        {TEXT.layout.sum(shown)}
      </p>
      <button type="button" onClick={onEven}>
        {TEXT.layout.even}
      </button>
    </div>
  );
}
