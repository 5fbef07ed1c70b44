/** A text field that offers what fits to what is typed: arrow keys choose, Enter takes. */
import type { RefObject } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { hasWords } from '../lists/filter.js';
import { TEXT } from '../texts.js';
import { type FieldProps, Labelled } from './field.js';
import { useLoad, useSettled } from './load.js';

/** Milliseconds after the last key until offers are looked for. */
const TYPING_MS = 150;

/** Something that can be taken. */
export interface Offer {
  readonly value: string;
  readonly label: string;
  /** What tells it from others. */
  readonly about?: string | undefined;
}

/** What a picker is made of beside its field. */
export interface PickerParts {
  /** Returns what fits to a text. An error offers nothing. */
  readonly offersOf: (typed: string, signal: AbortSignal) => Promise<readonly Offer[]>;
  /** Names the source of the offers: they are looked for again when it changes. */
  readonly source: string;
  /** Takes an offer. By default the field gets its value. */
  readonly onTake?: (offer: Offer) => void;
  /** Takes what was typed, when Enter is pressed without an offer. */
  readonly onEnter?: () => void;
  readonly input?: RefObject<HTMLInputElement | null>;
}

/** What a picker offers, and which of it the keys have reached. */
function useOffers({ offersOf, source, typed }: PickerParts & { typed: string }) {
  const [isOpen, setOpen] = useState(false);
  const [reached, setReached] = useState<string>();
  const settled = useSettled(typed, TYPING_MS);
  const { value = [], isLoading } = useLoad(
    (signal) => (isOpen ? offersOf(settled.trim(), signal) : Promise.resolve([])),
    [settled, isOpen, source],
  );
  const isCurrent = settled === typed && !isLoading;
  // What was found for an earlier text may not fit any more.
  const fits = (offer: Offer): boolean =>
    isCurrent || hasWords(`${offer.value} ${offer.label} ${offer.about}`, typed);
  const offers = isOpen ? value.filter(fits) : [];
  const at = offers.findIndex((offer) => offer.value === reached);
  const setAt = (nth: number): void => setReached(offers[nth]?.value);
  return { offers, at, setAt, setOpen };
}

/** The field, with a list of offers once it is clicked, typed into, or Arrow down is pressed. */
export function Picker({
  value,
  onInput,
  isRequired,
  offersOf,
  source,
  onTake = (offer) => onInput(offer.value),
  onEnter,
  input,
  ...texts
}: FieldProps & PickerParts) {
  const id = useId();
  const own = useRef<HTMLInputElement>(null);
  const { offers, at, setAt, setOpen } = useOffers({ offersOf, source, typed: value });
  const takeOffer = (offer: Offer): void => {
    onTake(offer);
    setOpen(false);
    setAt(-1);
  };
  const onKeyDown = keysOf({ offers, at, setAt, setOpen, take: takeOffer, onEnter });
  return (
    <Labelled {...texts} isRequired={isRequired}>
      {(ties) => (
        <div class="picker">
          <input
            {...ties}
            ref={input ?? own}
            type="text"
            role="combobox"
            aria-expanded={offers.length > 0}
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={offers[at] === undefined ? undefined : `${id}-${at}`}
            required={isRequired}
            value={value}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            onClick={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onInput={(event) => {
              onInput(event.currentTarget.value);
              setOpen(true);
              setAt(-1);
            }}
            onKeyDown={onKeyDown}
          />
          <Offers id={id} label={texts.label} offers={offers} at={at} onTake={takeOffer} />
        </div>
      )}
    </Labelled>
  );
}

/** Returns what handles the keys of the field. */
const keysOf =
  ({
    offers,
    at,
    setAt,
    setOpen,
    take,
    onEnter,
  }: ReturnType<typeof useOffers> & {
    readonly take: (offer: Offer) => void;
    readonly onEnter: (() => void) | undefined;
  }) =>
  (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const offer = offers[at];
    if (by !== undefined) {
      setOpen(true);
      setAt(offers.length === 0 ? -1 : (at + by + offers.length) % offers.length);
    } else if (event.key === 'Escape' && offers.length > 0) setOpen(false);
    else if (event.key === 'Enter' && offer !== undefined) take(offer);
    else if (event.key === 'Enter' && onEnter !== undefined) onEnter();
    else return;
    event.preventDefault();
  };

function Offers({
  id,
  label,
  offers,
  at,
  onTake,
}: {
  id: string;
  label: string;
  offers: readonly Offer[];
  at: number;
  onTake: (offer: Offer) => void;
}) {
  return (
    <div
      role="listbox"
      id={id}
      tabIndex={-1}
      aria-label={TEXT.form.offers(label)}
      hidden={offers.length === 0}
    >
      {offers.map((offer, nth) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        <div
          key={offer.value}
          id={`${id}-${nth}`}
          role="option"
          tabIndex={-1}
          aria-selected={nth === at}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(offer)}
        >
          <span>{offer.label}</span>
          <span class="quiet">{offer.about}</span>
        </div>
      ))}
    </div>
  );
}

/** Returns the offers of a list that does not change. */
export const offersFrom =
  (values: readonly string[]): PickerParts['offersOf'] =>
  async (typed) =>
    values
      .filter((value) => typed === value || value.startsWith(typed) || values.includes(typed))
      .map((value) => ({ value, label: value }));
