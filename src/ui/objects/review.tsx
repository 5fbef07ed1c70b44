/** The dialogs before a write. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { type Refs, readRefs } from '../api/sets.js';
import type { Stored } from '../api/types.js';
import { Dialog } from '../parts/dialog.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Trouble } from '../parts/notice.js';
import { Impact } from '../plan/impact.js';
import { IfDeleted, UsedBy } from '../plan/refs-view.js';
import { ReasonField, type Reasoning, ReviewDialog } from '../plan/review.js';
import { PlanView, type WholeText } from '../plan/view.js';
import { TEXT } from '../texts.js';
import { ConflictNotice, FormDiff } from './conflict.js';
import type { Field, Form } from './fields.js';
import { type Planned, planRemoval } from './planned.js';
import { formOf, type ObjectType, type Version } from './type.js';
import type { Editing } from './use-edit.js';

/** Plans the write of a form, and shows the plan. */
export function WriteDialog({
  type,
  editing,
  reasoning,
  onApply,
  onBack,
}: {
  type: ObjectType;
  editing: Editing;
  reasoning: Reasoning;
  onApply: (planned: Planned, reason: string) => void;
  /** Called when the user goes back, and when there is nothing to apply. */
  onBack: () => void;
}) {
  const [planned, setPlanned] = useState<Planned>();
  const { before, form, overtaken } = editing.edit!;
  // Again if another version was written meanwhile: what was typed is merged with that one.
  useLayoutEffect(() => {
    setPlanned(undefined);
    void editing.plan().then((made) => {
      if (made === undefined) onBack();
      else if (made !== 'overtaken') setPlanned(made);
    });
  }, [before?.index]);
  const forms = { fields: type.fields, before: before && formOf(type, before.object), after: form };
  const plan = planned?.plan;
  const whole: WholeText = (path) => wholeText(forms, path.slice(1));
  return (
    <ReviewDialog
      isReady={planned !== undefined}
      isBusy={editing.isBusy}
      mayReason={planned === undefined || plan !== undefined}
      reasoning={reasoning}
      onApply={planned && ((reason) => onApply(planned, reason))}
      onBack={editing.isBusy ? editing.stop : onBack}
    >
      {overtaken !== undefined && (
        <ConflictNotice
          fields={type.fields}
          before={formOf(type, overtaken.object)}
          theirs={forms.before!}
          onTheirs={() => {
            editing.takeTheirs();
            onBack();
          }}
        >
          <p>{TEXT.conflict.fits}</p>
        </ConflictNotice>
      )}
      {plan !== undefined && <PlanView plan={plan} whole={whole} />}
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
  reasoning: [reason, setReason],
  onDelete,
  onCancel,
}: {
  type: ObjectType;
  before: Version;
  isBusy: boolean;
  reasoning: Reasoning;
  onDelete: (reason: string) => void;
  onCancel: () => void;
}) {
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
