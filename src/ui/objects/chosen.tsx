/** What can be done with the objects that are selected in a list. */
import { type Dispatch, type StateUpdater, useEffect, useState } from 'preact/hooks';
import type { Stored } from '../api/types.js';
import { plural } from '../change-texts.js';
import { Status } from '../parts/notice.js';
import { TEXT } from '../texts.js';
import { DeleteMany } from './delete-many.js';
import { keyOf } from './list-table.js';
import type { ObjectType } from './type.js';

/** The number of selected objects, and their deletion. Those that leave the page are let go. */
export function Chosen({
  type,
  items,
  chosen,
  onChange,
}: {
  type: ObjectType;
  items: readonly Stored[];
  chosen: ReadonlySet<string>;
  onChange: Dispatch<StateUpdater<ReadonlySet<string>>>;
}) {
  const [deleting, setDeleting] = useState<readonly Stored[]>();
  const [said, setSaid] = useState('');
  const objects = items.filter((object) => chosen.has(keyOf(type, object)));
  const gone = chosen.size - objects.length;
  // Another page has a selection of its own.
  useEffect(() => () => onChange(new Set()), []);
  useEffect(() => {
    if (gone === 0) return;
    if (deleting === undefined) setSaid(TEXT.list.chosenGone(gone));
    const left = new Set(objects.map((object) => keyOf(type, object)));
    onChange((before) => new Set([...before].filter((key) => left.has(key))));
  }, [gone]);
  const clear = (note: string): void => {
    setSaid(note);
    setDeleting(undefined);
    onChange(new Set());
  };
  return (
    <div class={objects.length > 0 ? 'chosen row' : undefined}>
      <Status>{objects.length > 0 ? TEXT.list.chosen(objects.length) : said}</Status>
      {objects.length > 0 && (
        <>
          <button type="button" class="danger" onClick={() => setDeleting(objects)}>
            {TEXT.list.deleteMany(plural(objects.length, type.noun, pluralOf(type.noun)))}
          </button>
          <button type="button" onClick={() => clear('')}>
            {TEXT.list.clear}
          </button>
        </>
      )}
      {deleting !== undefined && (
        <DeleteMany
          type={type}
          objects={deleting}
          onDone={clear}
          onBack={() => setDeleting(undefined)}
        />
      )}
    </div>
  );
}

/** Returns the plural of the name of a type: `policies`. */
const pluralOf = (noun: string): string =>
  /[^aeo]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
