/** Fields of forms: a label, what it means, and what is wrong with it. */
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface FieldProps {
  readonly label: string;
  readonly help?: string | undefined;
  readonly error?: string | undefined;
  /** Which of several items is wrong, counted from 0. */
  readonly errorAt?: number | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly isDisabled?: boolean | undefined;
  readonly isRequired?: boolean | undefined;
  /** Where the caret is to go. Each place is followed once. */
  readonly caret?: Caret | undefined;
}

/** A place in a text, counted from 1. */
export interface Caret {
  readonly line: number;
  readonly column: number;
}

/** Puts the caret of a field to a place. */
function useCaret<T extends HTMLInputElement | HTMLTextAreaElement>(
  caret: Caret | undefined,
): RefObject<T | null> {
  const field = useRef<T>(null);
  useEffect(() => {
    if (caret === undefined || field.current === null) return;
    const lines = field.current.value.split('\n').slice(0, caret.line - 1);
    const at = lines.join('\n').length + Math.min(1, lines.length) + caret.column - 1;
    field.current.focus();
    field.current.setSelectionRange(at, at);
  }, [caret]);
  return field;
}

/** The attributes that tie a field to its label and its texts. */
interface Ties {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
  readonly disabled: boolean | undefined;
}

/** A label, a field that is tied to it, and the texts about it. */
export function Labelled({
  label,
  help,
  error,
  isDisabled,
  isRequired,
  children,
}: Pick<FieldProps, 'label' | 'help' | 'error' | 'isDisabled' | 'isRequired'> & {
  children: (ties: Ties) => ComponentChildren;
}) {
  const id = useId();
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id} class={isRequired ? 'required' : undefined}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error === undefined ? undefined : true,
        disabled: isDisabled,
      })}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

const TEXT = { type: 'text', autocomplete: 'off' } as const;
const PASSWORD = { type: 'password', autocomplete: 'one-time-code' } as const;

/**
 * One line of text. `isSecret` shows dots; `isPassword` does so in a field that the browser knows
 * to be secret, but does not offer to keep.
 */
export function TextField({
  isSecret = false,
  isPassword = false,
  value,
  onInput,
  caret,
  ...texts
}: FieldProps & { isSecret?: boolean; isPassword?: boolean }) {
  const field = useCaret<HTMLInputElement>(caret);
  return (
    <Labelled {...texts}>
      {(ties) => (
        <input
          {...ties}
          ref={field}
          {...(isPassword ? PASSWORD : TEXT)}
          class={isSecret ? 'dots' : undefined}
          required={texts.isRequired}
          value={value}
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

/** Several lines of text. */
export function AreaField({
  rows = 3,
  value,
  onInput,
  caret,
  ...texts
}: FieldProps & { rows?: number }) {
  const field = useCaret<HTMLTextAreaElement>(caret);
  return (
    <Labelled {...texts}>
      {(ties) => (
        <textarea
          {...ties}
          ref={field}
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Labelled>
  );
}

/** One of several values. */
export function SelectField({
  options,
  value,
  onInput,
  ...texts
}: FieldProps & { options: readonly string[] }) {
  const all = options.includes(value) ? options : [value, ...options];
  return (
    <Labelled {...texts}>
      {(ties) => (
        <select {...ties} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          {all.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Yes or no, as the texts `true` and `false`. */
export function CheckField({ label, help, value, onInput, isDisabled }: FieldProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={value === 'true'}
        disabled={isDisabled}
        aria-describedby={help === undefined ? undefined : `${id}-help`}
        onChange={(event) => onInput(String(event.currentTarget.checked))}
      />
      <label for={id}>{label}</label>
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
