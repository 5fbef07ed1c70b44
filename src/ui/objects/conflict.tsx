/** What a page says when somebody has written another version of what is edited. */
import type { ComponentChildren } from 'preact';
import { Diff } from '../parts/diff.js';
import { TEXT } from '../texts.js';
import type { Field, Form } from './fields.js';
import type { Collision } from './merge.js';

/** Every field that differs, with what differs in it. */
export function FormDiff({
  fields,
  before,
  after,
}: {
  fields: readonly Field[];
  before: Form | undefined;
  after: Form;
}) {
  const changed = fields.filter(({ key }) => (before?.[key] ?? '') !== (after[key] ?? ''));
  if (changed.length === 0) return <p>{TEXT.review.nothing}</p>;
  return (
    <>
      {changed.map(({ key, label }) => (
        <section key={key}>
          <h3>{label}</h3>
          <Diff before={before?.[key] ?? ''} after={after[key] ?? ''} />
        </section>
      ))}
    </>
  );
}

/** Says that another version was written, and how it differs from the one that was read. */
export function ConflictNotice({
  fields,
  before,
  theirs,
  onTheirs,
  onMine,
  children,
}: {
  fields: readonly Field[];
  before: Form;
  theirs: Form;
  onTheirs: () => void;
  /** Undefined if nothing was typed, or if both changes are reviewed already. */
  onMine?: (() => void) | undefined;
  /** What becomes of what was typed, if anything was. */
  children: ComponentChildren;
}) {
  return (
    <div class="notice warn" role="alert">
      <p>
        <strong>{TEXT.conflict.title}</strong> {TEXT.conflict.about}
      </p>
      <FormDiff fields={fields} before={before} after={theirs} />
      {children}
      <div class="buttons">
        {onMine !== undefined && (
          <button type="button" class="main" onClick={onMine}>
            {TEXT.conflict.mine}
          </button>
        )}
        <button type="button" onClick={onTheirs}>
          {TEXT.conflict.theirs}
        </button>
      </div>
    </div>
  );
}

/** Lets the user choose where both changed the same. */
export function Merging({
  collisions,
  theirsAt,
  onChoose,
}: {
  collisions: readonly Collision[];
  /** The places at which theirs is kept. */
  theirsAt: ReadonlySet<string>;
  onChoose: (theirsAt: ReadonlySet<string>) => void;
}) {
  const choose = (at: string, isTheirs: boolean): void => {
    const others = [...theirsAt].filter((each) => each !== at);
    onChoose(new Set(isTheirs ? [...others, at] : others));
  };
  return (
    <>
      <p>{collisions.length === 0 ? TEXT.conflict.fits : TEXT.conflict.collides}</p>
      {collisions.map(({ at, label, mine, theirs }) => (
        <fieldset key={at} class="items choice-of">
          <legend>{label}</legend>
          {[false, true].map((isTheirs) => (
            <label key={String(isTheirs)}>
              <input
                type="radio"
                name={at}
                checked={theirsAt.has(at) === isTheirs}
                onChange={() => choose(at, isTheirs)}
              />
              <span>{isTheirs ? TEXT.conflict.keepTheirs : TEXT.conflict.keepMine}</span>{' '}
              <code>{isTheirs ? theirs : mine}</code>
            </label>
          ))}
        </fieldset>
      ))}
    </>
  );
}
