/** The dialogs before a write, and the notice of a conflict. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { type Refs, readRefs } from '../api/sets.js';
import type { Stored } from '../api/types.js';
import { Dialog } from '../parts/dialog.js';
import { Diff } from '../parts/diff.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Trouble } from '../parts/notice.js';
import { Impact } from '../plan/impact.js';
import { IfDeleted, UsedBy } from '../plan/refs-view.js';
import { ReasonField, ReviewDialog } from '../plan/review.js';
import { PlanView, type WholeText } from '../plan/view.js';
import { TEXT } from '../texts.js';
import type { Field, Form } from './fields.js';
import { type Planned, planRemoval } from './planned.js';
import { formOf, type ObjectType, type Version } from './type.js';
import type { Editing } from './use-edit.js';

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

/** Plans the write of a form, and shows the plan. */
export function WriteDialog({
  type,
  editing,
  onApply,
  onBack,
}: {
  type: ObjectType;
  editing: Editing;
  onApply: (planned: Planned, reason: string) => void;
  /** Called when the user goes back, and when there is nothing to apply. */
  onBack: () => void;
}) {
  const [planned, setPlanned] = useState<Planned>();
  useLayoutEffect(() => {
    void editing.plan().then((made) => (made === undefined ? onBack() : setPlanned(made)));
  }, []);
  const { before, form } = editing.edit!;
  const forms = { fields: type.fields, before: before && formOf(type, before.object), after: form };
  const plan = planned?.plan;
  return (
    <ReviewDialog
      isReady={planned !== undefined}
      isBusy={editing.isBusy}
      mayReason={planned === undefined || plan !== undefined}
      onApply={planned && ((reason) => onApply(planned, reason))}
      onBack={editing.isBusy ? editing.stop : onBack}
    >
      {plan !== undefined && (
        <PlanView plan={plan} whole={(path) => wholeText(forms, path.slice(1))} />
      )}
      {planned !== undefined && plan === undefined && (
        <>
          <p class="notice warn">{TEXT.review.lacking}</p>
          <FormDiff {...forms} />
        </>
      )}
      {before !== undefined && <RefsOf type={type} object={before.object} View={UsedBy} />}
    </ReviewDialog>
  );
}

/** Returns the text of a field before and after. */
const wholeText = (
  { fields, before, after }: { fields: readonly Field[]; before: Form | undefined; after: Form },
  key: string,
): ReturnType<WholeText> =>
  fields.some((field) => field.key === key) ? [before?.[key] ?? '', after[key] ?? ''] : undefined;

/** What refers to an object, once it is read. */
function RefsOf({
  type,
  object,
  View,
}: {
  type: ObjectType;
  object: Stored;
  View: (shown: { refs: Refs }) => ComponentChildren;
}) {
  const { value, problem } = useLoad((signal) => readRefs(type.ref, type.idOf(object), signal), []);
  if (value === undefined) return <ProblemNotice problem={problem} />;
  return <View refs={value} />;
}

/** Asks before an object is deleted. Says what it does, and who links to the object. */
export function DeleteDialog({
  type,
  before,
  isBusy,
  onDelete,
  onCancel,
}: {
  type: ObjectType;
  before: Version;
  isBusy: boolean;
  onDelete: (reason: string) => void;
  onCancel: () => void;
}) {
  const [reason, setReason] = useState('');
  const { object } = before;
  const { value: plan, isLoading } = useLoad((signal) => planRemoval(type, before, signal), []);
  return (
    <Dialog title={TEXT.remove.title(type.nameOf(object))} onClose={onCancel}>
      <p>
        {type.removal} {!isLoading && (plan === undefined ? TEXT.remove.final : TEXT.remove.kept)}
      </p>
      <RefsOf type={type} object={object} View={IfDeleted} />
      {plan !== undefined && <Impact of={plan.Impact.Tokens} />}
      <ReasonField value={reason} onInput={setReason} />
      <Trouble />
      <div class="buttons">
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          onClick={() => onDelete(reason.trim())}
        >
          {TEXT.remove.confirm}
        </button>
        <button type="button" onClick={onCancel}>
          {TEXT.remove.cancel}
        </button>
      </div>
    </Dialog>
  );
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
  /** Undefined if nothing was typed. */
  onMine: (() => void) | undefined;
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
        {onMine !== undefined && (
          <button type="button" onClick={onMine}>
            {TEXT.conflict.mine}
          </button>
        )}
      </div>
    </div>
  );
}
