/** The dialog before a write: what it does, why it is done, and whether it is to be done. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Applied, isOutdated, type Plan } from '../api/sets.js';
import { Dialog } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import { useAttempt } from '../parts/form.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Status, Trouble } from '../parts/notice.js';
import { TEXT } from '../texts.js';
import { PlanView } from './view.js';

/** A reason that is typed, and what changes it. */
export type Reasoning = readonly [reason: string, set: (reason: string) => void];

/** Shows what will be written. Without `onApply` it cannot be, or not yet. */
export function ReviewDialog({
  isReady,
  isBusy,
  mayReason = true,
  reasoning,
  onApply,
  onBack,
  children,
}: {
  /** Whether it is known what will be written. */
  isReady: boolean;
  isBusy: boolean;
  /** Whether a reason is kept. */
  mayReason?: boolean;
  /** The reason that was typed, if it outlives the dialog. */
  reasoning?: Reasoning;
  onApply: ((reason: string) => void) | undefined;
  onBack: () => void;
  children: ComponentChildren;
}) {
  const own = useState('');
  const [reason, setReason] = reasoning ?? own;
  return (
    <Dialog title={TEXT.review.title} onClose={onBack}>
      <Status>{!isReady && TEXT.review.planning}</Status>
      {children}
      {mayReason && <ReasonField value={reason} onInput={setReason} />}
      <Trouble />
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={isBusy || !isReady || onApply === undefined}
          onClick={() => onApply?.(reason.trim())}
        >
          {TEXT.review.apply}
        </button>
        <button type="button" onClick={onBack}>
          {TEXT.review.back}
        </button>
      </div>
    </Dialog>
  );
}

/** Why something is changed or deleted. */
export const ReasonField = (props: { value: string; onInput: (value: string) => void }) => (
  <TextField label={TEXT.review.reason} help={TEXT.review.reasonHelp} {...props} />
);

/** Something that is planned before it is done. */
export interface Act {
  plan(signal: AbortSignal): Promise<Plan>;
  apply(plan: Plan, reason: string, signal: AbortSignal): Promise<Applied>;
}

/** Plans an act, shows the plan, and does it. If something changes meanwhile, plans it again. */
export function ActDialog({
  act,
  onDone,
  onBack,
}: {
  act: Act;
  onDone: (applied: Applied) => void;
  onBack: () => void;
}) {
  const { value: plan, problem, isLoading, reload } = useLoad(act.plan, [act]);
  const { problem: refused, isBusy, attempt, stop } = useAttempt(onBack);
  const [isNew, setNew] = useState(false);
  const apply = async (of: Plan, reason: string, signal: AbortSignal): Promise<void> => {
    try {
      onDone(await act.apply(of, reason, signal));
    } catch (error) {
      if (!isOutdated(error)) throw error;
      setNew(true);
      reload();
    }
  };
  const mayApply = plan?.Valid && plan.Parts.length === 0;
  return (
    <ReviewDialog
      isReady={!isLoading}
      isBusy={isBusy}
      onApply={
        mayApply ? (reason) => void attempt((signal) => apply(plan, reason, signal)) : undefined
      }
      onBack={isBusy ? stop : onBack}
    >
      <ProblemNotice problem={problem ?? refused} />
      {isNew && (
        <p class="notice warn" role="alert">
          {TEXT.review.again}
        </p>
      )}
      {plan !== undefined && <PlanView plan={plan} />}
    </ReviewDialog>
  );
}
