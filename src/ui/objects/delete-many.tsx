/** The deletion of several objects at once. */
import { useMemo, useState } from 'preact/hooks';
import { applySet, type ChangeSet, planSet } from '../api/sets.js';
import type { Stored } from '../api/types.js';
import { plural } from '../change-texts.js';
import { useAttempt } from '../parts/form.js';
import { ProblemNotice } from '../parts/notice.js';
import { type Act, ActDialog, ReviewDialog } from '../plan/review.js';
import { TEXT } from '../texts.js';
import { byName, isInSets } from './planned.js';
import type { ObjectType } from './type.js';

/** What a dialog that deletes objects is given. */
interface DeleteManyParts {
  readonly type: ObjectType;
  readonly objects: readonly Stored[];
  onDone(note: string): void;
  onBack(): void;
}

/** Asks before objects are deleted. A set deletes all of them, or none. */
export function DeleteMany(parts: DeleteManyParts) {
  return isInSets(parts.type) ? <DeleteSet {...parts} /> : <DeleteEach {...parts} />;
}

function DeleteSet({ type, objects, onDone, onBack }: DeleteManyParts) {
  const act = useMemo((): Act => {
    const set: ChangeSet = { Delete: objects.map((object) => byName(type, object)) };
    return {
      plan: (signal) => planSet(set, signal),
      apply: (plan, reason, signal) => applySet(set, plan, reason, signal),
    };
  }, []);
  return (
    <ActDialog
      act={act}
      onDone={({ Changes, Index }) => onDone(TEXT.plan.applied(Changes.length, Index))}
      onBack={onBack}
    />
  );
}

/** Sets hold no tokens: each is deleted for itself. Those that are gone already do no harm. */
function DeleteEach({ type, objects, onDone, onBack }: DeleteManyParts) {
  const [done, setDone] = useState(0);
  const { problem, isBusy, attempt, stop } = useAttempt(onBack);
  const count = plural(objects.length, type.noun);
  const apply = async (reason: string, signal: AbortSignal): Promise<void> => {
    for (const [nth, object] of objects.entries()) {
      if (nth < done) continue;
      const before = { object, index: object.ModifyIndex };
      const isDone = await type.remove(before, { signal, reason });
      if (!isDone && (await type.find(type.idOf(object), signal)) !== undefined)
        throw new Error(TEXT.list.changed(type.nameOf(object)));
      setDone(nth + 1);
    }
    onDone(TEXT.list.deletedMany(count));
  };
  return (
    <ReviewDialog
      isReady
      isBusy={isBusy}
      onApply={(reason) => void attempt((signal) => apply(reason, signal))}
      onBack={isBusy ? stop : onBack}
    >
      <p>{TEXT.list.deleteTokens(count)}</p>
      <ul>
        {objects.map((object) => (
          <li key={type.idOf(object).join('/')}>{type.nameOf(object)}</li>
        ))}
      </ul>
      {problem !== undefined && done > 0 && <p>{TEXT.list.deletedSome(done, objects.length)}</p>}
      <ProblemNotice problem={problem} />
    </ReviewDialog>
  );
}
