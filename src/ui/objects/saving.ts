/** How a form is saved, together with what somebody else has changed meanwhile. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go, hrefOf, visited } from '../router.js';
import { TEXT } from '../texts.js';
import type { Collision } from './merge.js';
import { leaveNote } from './note.js';
import type { ObjectType, Written } from './type.js';
import { type Editing, isSame, useStored } from './use-edit.js';

/** The dialog that is open. */
export type Open = 'review' | 'delete' | undefined;

/** What becomes of what was typed. */
export interface Saving {
  readonly open: Open;
  setOpen(open: Open): void;
  save(): void;
  /** What both changed; undefined without a conflict, or if nothing was typed. */
  readonly collisions: readonly Collision[] | undefined;
  /** Where both changed something: the places at which theirs is kept. */
  readonly theirsAt: ReadonlySet<string>;
  choose(theirsAt: ReadonlySet<string>): void;
  /** Reviews both changes. `isTold`: the user has seen what the other person has changed. */
  keepMine(isTold: boolean): void;
  readonly notice: RefObject<HTMLDivElement | null>;
}

/** Saves a form, together with what somebody else has changed meanwhile. */
export function useSaving(
  type: ObjectType,
  id: readonly string[] | undefined,
  editing: Editing,
): Saving {
  const [open, setOpen] = useState<Open>();
  const [theirsAt, setTheirsAt] = useState<ReadonlySet<string>>(new Set());
  // Whether the user has been asked whose changes are kept.
  const [isAsked, setAsked] = useState(false);
  const notice = useRef<HTMLDivElement>(null);
  const { before, conflict } = editing.edit!;
  const collisions = isSame(type, editing.edit!) ? undefined : editing.merged()?.collisions;
  const keepMine = (isTold: boolean): void => {
    if (editing.body() === undefined) return;
    editing.keepMine(theirsAt, isTold);
    setOpen('review');
  };
  const save = (): void => {
    if (editing.body() === undefined) return;
    if (collisions !== undefined && collisions.length > 0 && !isAsked) {
      setAsked(true);
      notice.current?.querySelector<HTMLElement>('button.main')?.focus();
    } else if (collisions !== undefined)
      // Theirs may have come just now: the review says it again.
      keepMine(collisions.length > 0);
    // There is nothing to compare a new object with.
    else if (before === undefined) void writeNew(editing);
    else setOpen('review');
  };
  // A problem or a conflict is shown on the page, not behind a dialog. Both effects come before the
  // next click: a dialog that it opens, or a choice, stays.
  useLayoutEffect(() => {
    if (editing.problem !== undefined || conflict !== undefined) setOpen(undefined);
    setAsked(conflict !== undefined && open === 'review');
    setTheirsAt(new Set());
  }, [editing.problem, conflict]);
  const now = useStored(type, id);
  // What a dialog shows stays as it is: the server refuses what is outdated.
  useLayoutEffect(() => {
    if (now !== undefined && open === undefined) editing.meet(now);
  }, [now, open, editing.isBusy, before]);
  const choose = (next: ReadonlySet<string>): void => {
    setTheirsAt(next);
    setAsked(true);
  };
  return { open, setOpen, save, collisions, theirsAt, choose, keepMine, notice };
}

/** Writes a new object without a review. */
async function writeNew(editing: Editing): Promise<void> {
  const isHere = visited();
  const written = await editing.write(undefined, '');
  if (typeof written === 'object' && isHere()) leadTo(written);
}

/** Goes to what was written. */
export function leadTo({ to, lint }: Written): void {
  leaveNote(lint ? TEXT.form.savedWith(lint) : TEXT.form.saved);
  go(hrefOf(to), { replace: true });
}
