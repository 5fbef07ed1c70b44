/** The dialogs before a write, and the notice of a conflict. */
import type { Stored } from '../api/types.js';
import { Dialog } from '../parts/dialog.js';
import { Diff } from '../parts/diff.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Trouble } from '../parts/notice.js';
import { TEXT } from '../texts.js';
import type { Field, Form } from './fields.js';
import { type Linking, linkedTo } from './linking.js';
import type { ObjectType } from './type.js';

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

/** Shows what will be written. */
export function ReviewDialog({
  fields,
  before,
  after,
  isBusy,
  onApply,
  onBack,
}: {
  fields: readonly Field[];
  before: Form | undefined;
  after: Form;
  isBusy: boolean;
  onApply: () => void;
  onBack: () => void;
}) {
  return (
    <Dialog title={TEXT.review.title} onClose={onBack}>
      <FormDiff fields={fields} before={before} after={after} />
      <Trouble />
      <div class="buttons">
        <button type="button" class="main" disabled={isBusy} onClick={onApply}>
          {TEXT.review.apply}
        </button>
        <button type="button" onClick={onBack}>
          {TEXT.review.back}
        </button>
      </div>
    </Dialog>
  );
}

/** Linking objects that are counted before a deletion, and those that are named. */
const COUNTED = 1000;
const NAMED = 3;

/** Asks before an object is deleted. Says what it does, and who links to the object. */
export function DeleteDialog({
  type,
  object,
  isBusy,
  onDelete,
  onCancel,
}: {
  type: ObjectType;
  object: Stored;
  isBusy: boolean;
  onDelete: () => void;
  onCancel: () => void;
}) {
  const { about, linked = [] } = type.removal;
  return (
    <Dialog title={TEXT.remove.title(type.nameOf(object))} onClose={onCancel}>
      <p>
        {about} {TEXT.remove.final}
      </p>
      {linked.map((linking) => (
        <LinkedCount key={linking.list} linking={linking} object={object} />
      ))}
      <Trouble />
      <div class="buttons">
        <button type="button" class="danger" disabled={isBusy} onClick={onDelete}>
          {TEXT.remove.confirm}
        </button>
        <button type="button" onClick={onCancel}>
          {TEXT.remove.cancel}
        </button>
      </div>
    </Dialog>
  );
}

function LinkedCount({ linking, object }: { linking: Linking; object: Stored }) {
  const { value, problem } = useLoad((signal) => linkedTo(linking, object, COUNTED, signal), []);
  if (value === undefined) return <ProblemNotice problem={problem} />;
  const { items, hasMore } = value;
  if (items.length === 0) return null;
  const names = items.slice(0, NAMED).map(linking.nameOf);
  return <p>{TEXT.remove.linked(items.length, !hasMore, linking.title, names)}</p>;
}

/** Says that another version was written, and how it differs from the one that was read. */
export function ConflictNotice({
  fields,
  before,
  theirs,
  onTheirs,
  onMine,
}: {
  fields: readonly Field[];
  before: Form;
  theirs: Form;
  onTheirs: () => void;
  onMine: () => void;
}) {
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{TEXT.conflict.title}</strong> {TEXT.conflict.about}
      </p>
      <FormDiff fields={fields} before={before} after={theirs} />
      <div class="buttons">
        <button type="button" onClick={onTheirs}>
          {TEXT.conflict.theirs}
        </button>
        <button type="button" onClick={onMine}>
          {TEXT.conflict.mine}
        </button>
      </div>
    </div>
  );
}
