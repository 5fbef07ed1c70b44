/** An object while it is edited. What is typed is kept in the tab until it is written. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asProblem, Problem } from '../api/problem.js';
import { isOutdated } from '../api/sets.js';
import { type Indexed, useWatch } from '../parts/load.js';
import { keep, kept } from '../session.js';
import { type Body, FieldFault, type Form } from './fields.js';
import { type Merged, mergeForms } from './merge.js';
import { type Planned, planWrite, writePlanned } from './planned.js';
import { bodyOf, formOf, type ObjectType, type Version, type Written } from './type.js';

/** What is edited. */
export interface Edit {
  /** The version that is edited; undefined for a new object. */
  readonly before: Version | undefined;
  readonly form: Form;
  /** Another version that was written meanwhile. */
  readonly conflict?: Version | undefined;
  /** The version before, if `before` was written meanwhile and what was typed fits to it. */
  readonly overtaken?: Version | undefined;
  /** What was typed before the user went on from another version. */
  readonly typedBefore?: Form | undefined;
  /** Whether it comes from an earlier visit of this page. */
  readonly isRestored?: boolean;
}

/** What a form does. */
export interface Editing {
  readonly edit: Edit | undefined;
  /** Whether the object that the page names does not exist. */
  readonly isMissing: boolean;
  readonly problem: Problem | undefined;
  readonly fault: FieldFault | undefined;
  readonly isBusy: boolean;
  set(key: string, value: string): void;
  /** The body to send; undefined if a field cannot be sent. Then `fault` says which. */
  body(): Body | undefined;
  /** Plans the write of it. Returns undefined if that failed or the object has changed. */
  plan(): Promise<Done<Planned>>;
  /** Writes what was planned, or a body that needs no plan. Returns undefined as `plan`. */
  write(planned: Planned | undefined, reason: string): Promise<Done<Written>>;
  /** Deletes the object. Returns whether it did. */
  remove(reason: string): Promise<boolean>;
  /** Ends a write or delete that waits to be sent. One that was sent is awaited. */
  stop(): void;
  /** Takes a version that was read meanwhile as a conflict, if it is newer; null: it is gone. */
  meet(now: Version | null): void;
  /** Takes the version of the conflict, and keeps what was typed beside it. */
  takeTheirs(): void;
  /** What both changed, if there is a conflict. */
  merged(theirsAt?: ReadonlySet<string>): Merged | undefined;
  /**
   * Merges what was typed with the version of the conflict. `theirsAt`: where theirs is taken.
   * `isTold`: the user knows of that version, and the review need not tell them.
   */
  keepMine(theirsAt: ReadonlySet<string>, isTold: boolean): void;
  /** Forgets what was typed. */
  discard(): void;
}

/**
 * What was done. `overtaken` if the object has changed meanwhile, and what was typed is now merged
 * with the new version; undefined if nothing was done for another reason.
 */
export type Done<T> = T | 'overtaken' | undefined;

/** An edit that was begun, and what kept it from that. */
interface Begun {
  readonly edit?: Edit | undefined;
  readonly isMissing?: boolean;
  readonly problem?: Problem | undefined;
}

/** Returns the draft of an earlier visit, the stored object, or a new one. */
async function begin(
  type: ObjectType,
  id: readonly string[] | undefined,
  key: string,
  given: Form,
): Promise<Begun> {
  const draft = kept<Edit>(key);
  if (draft !== undefined) return { edit: { ...draft, isRestored: true } };
  if (id === undefined)
    return { edit: { before: undefined, form: { ...formOf(type, undefined), ...given } } };
  try {
    const before = await type.find(id);
    if (before === undefined) return { isMissing: true };
    return { edit: { before, form: formOf(type, before.object) } };
  } catch (error) {
    return { problem: asProblem(error) };
  }
}

/** Begins an edit, and again with each `turn`. */
function useBegun(...[type, id, key, given, turn]: [...Parameters<typeof begin>, turn: number]) {
  const state = useState<Begun>({});
  const [, setBegun] = state;
  useLayoutEffect(() => {
    let isGone = false;
    void begin(type, id, key, given).then((begun) => !isGone && setBegun(begun));
    return () => {
      isGone = true;
    };
  }, [key, turn]);
  return state;
}

/**
 * Edits an object of a type: that of `id`, or a new one with the fields that are `given`. `key`
 * names its draft.
 */
export function useEdit(
  type: ObjectType,
  id: readonly string[] | undefined,
  key: string,
  given: Form,
): Editing {
  const [turn, setTurn] = useState(0);
  const [{ edit, isMissing = false, problem }, setBegun] = useBegun(type, id, key, given, turn);
  const [fault, setFault] = useState<FieldFault>();
  const [isBusy, setBusy] = useState(false);
  const change = (next: Edit): void => {
    setBegun((was) => ({ ...was, edit: next, problem: undefined }));
    setFault(undefined);
    keep(key, isSame(type, next) ? undefined : next);
  };
  const body = (): Body | undefined => sendable(type, edit, setFault);
  const waiting = useRef<AbortController>(undefined);
  const stop = (): void => waiting.current?.abort();
  // Who leaves the page does not want the write any more.
  useEffect(() => stop, [key]);
  const attempt = async <T>(run: Attempt<T>): Promise<Done<T>> => {
    waiting.current = new AbortController();
    setBusy(true);
    setBegun({ edit });
    const { done, ...begun } = await outcomeOf(type, edit, run, waiting.current.signal);
    if (done === 'overtaken') keep(key, begun.edit);
    // What was typed meanwhile stays.
    setBegun((now) => (now.edit === edit ? begun : { ...begun, edit: now.edit }));
    setBusy(false);
    return done;
  };
  const attemptWrite = async <T>(run: Attempt<T>): Promise<Done<T>> => {
    const done = await attempt(run);
    if (done !== undefined && done !== 'overtaken') keep(key, undefined);
    return done;
  };
  return {
    edit,
    isMissing,
    problem,
    fault,
    isBusy,
    body,
    meet(now) {
      const { before, conflict } = edit ?? {};
      if (isBusy || before === undefined) return;
      if (now === null) setBegun({ edit, isMissing: true, problem });
      else if (now.index > (conflict ?? before).index)
        setBegun({ edit: { ...edit!, conflict: now }, problem });
    },
    ...changes(type, edit, change),
    ...acts(type, edit, body, { attempt, attemptWrite }),
    stop,
    discard() {
      keep(key, undefined);
      setTurn(turn + 1);
    },
  };
}

/** Returns the body to send; undefined if a field cannot be sent. */
function sendable(
  type: ObjectType,
  edit: Edit | undefined,
  onFault: (fault: FieldFault) => void,
): Body | undefined {
  try {
    return edit && bodyOf(type, edit.form, edit.before?.object);
  } catch (error) {
    if (!(error instanceof FieldFault)) throw error;
    onFault(error);
    return undefined;
  }
}

function changes(
  type: ObjectType,
  edit: Edit | undefined,
  change: (next: Edit) => void,
): Pick<Editing, 'set' | 'takeTheirs' | 'merged' | 'keepMine'> {
  return {
    set(field, value) {
      if (edit !== undefined) change({ ...edit, form: { ...edit.form, [field]: value } });
    },
    takeTheirs() {
      if (edit === undefined) return;
      const { conflict = edit.before, form } = edit;
      const taken = { before: conflict, form: formOf(type, conflict?.object) };
      change(isSame(type, edit) ? taken : { ...taken, typedBefore: form });
    },
    merged: (theirsAt) => edit?.conflict && mergedWith(type, edit, edit.conflict, theirsAt),
    keepMine(theirsAt, isTold) {
      const { before, conflict } = edit ?? {};
      if (edit === undefined || conflict === undefined) return;
      const { form } = mergedWith(type, edit, conflict, theirsAt);
      change({ before: conflict, form, ...(!isTold && { overtaken: before }) });
    },
  };
}

/** Merges what was typed with another version. */
function mergedWith(
  type: ObjectType,
  { before, form: mine }: Edit,
  { object }: Version,
  theirsAt?: ReadonlySet<string>,
): Merged {
  const old = formOf(type, before?.object);
  return mergeForms(type.fields, { before: old, mine, theirs: formOf(type, object) }, theirsAt);
}

/** How an act is attempted. */
interface Attempts {
  attempt<T>(run: Attempt<T>): Promise<Done<T>>;
  /** Forgets the draft once it is done. */
  attemptWrite<T>(run: Attempt<T>): Promise<Done<T>>;
}

/** Returns what is done with an edit. */
function acts(
  type: ObjectType,
  edit: Edit | undefined,
  body: () => Body | undefined,
  { attempt, attemptWrite }: Attempts,
): Pick<Editing, 'plan' | 'write' | 'remove'> {
  const before = edit?.before;
  return {
    async plan() {
      const sent = body();
      return sent && before && attempt((signal) => planWrite(type, sent, before, signal));
    },
    async write(planned, reason) {
      if (planned !== undefined)
        return attemptWrite((signal) => writePlanned(type, planned, before, { signal, reason }));
      const sent = body();
      return sent && attemptWrite((signal) => type.write(sent, before, { signal, reason }));
    },
    async remove(reason) {
      if (before === undefined) return false;
      const remove: Attempt<boolean> = async (signal) =>
        (await type.remove(before, { signal, reason })) || null;
      return (await attemptWrite(remove)) === true;
    },
  };
}

/**
 * A write; undefined if the object was changed meanwhile, null if then nothing is to be merged. The
 * signal ends its wait.
 */
type Attempt<T> = (signal: AbortSignal) => Promise<T | undefined | null>;

/**
 * Runs a write. Returns its problem, or the version that it found instead of that of the edit: as a
 * conflict, or merged with what was typed if nothing of that collides.
 */
async function outcomeOf<T>(
  type: ObjectType,
  edit: Edit | undefined,
  run: Attempt<T>,
  signal: AbortSignal,
): Promise<Begun & { readonly done?: Done<T> }> {
  try {
    const done = await run(signal).catch((error: unknown) => {
      if (isOutdated(error) && edit?.before !== undefined) return undefined;
      throw error;
    });
    if (edit === undefined || (done !== undefined && done !== null))
      return { edit, done: done ?? undefined };
    const theirs = edit.before && (await type.find(type.idOf(edit.before.object), signal));
    if (theirs === undefined) return { edit, isMissing: true };
    const { form, collisions } = mergedWith(type, edit, theirs);
    if (done === null || collisions.length > 0 || isSame(type, edit))
      return { edit: { ...edit, conflict: theirs } };
    const overtaken = edit.overtaken ?? edit.before;
    return { edit: { before: theirs, form, overtaken }, done: 'overtaken' };
  } catch (error) {
    if (signal.aborted && !(error instanceof Problem)) return { edit };
    return { edit, problem: asProblem(error) };
  }
}

/**
 * Reads the stored version of an object again and again: null once it is deleted. Undefined for a
 * new object.
 */
export const useStored = (
  type: ObjectType,
  id: readonly string[] | undefined,
): Version | null | undefined =>
  useWatch(
    async (signal): Promise<Indexed<Version | null | undefined>> => {
      if (id === undefined) return { value: undefined, index: 0 };
      const value = (await type.find(id, signal)) ?? null;
      // What is deleted may come back.
      return { value, index: value?.index ?? 1 };
    },
    [],
    { isHeld: false },
  ).value;

/** Whether nothing was typed that is not stored. */
export function isSame(type: ObjectType, { before, form, typedBefore }: Edit): boolean {
  const stored = formOf(type, before?.object);
  return typedBefore === undefined && type.fields.every(({ key }) => form[key] === stored[key]);
}
