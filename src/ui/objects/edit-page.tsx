/** The page of one object, or of a new one. */
import { type ComponentChildren, Fragment, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Problem } from '../api/problem.js';
import type { Finding, Stored } from '../api/types.js';
import { objectIn } from '../forms/layout.js';
import { HistorySection } from '../history/section.js';
import { readFirst } from '../lists/page.js';
import { loadEditor } from '../parts/code-field.js';
import type { Caret } from '../parts/field.js';
import { Findings, useLint } from '../parts/findings.js';
import { Form } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Empty, ProblemNotice, ReadOnly } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { useMay } from '../parts/rights.js';
import { go, hrefOf, type Place, visited } from '../router.js';
import { TEXT } from '../texts.js';
import { ConflictNotice, FormDiff, Merging } from './conflict.js';
import { Control } from './control.js';
import type { Field, Form as FormOf } from './fields.js';
import { leaveNote, Note } from './note.js';
import type { Planned } from './planned.js';
import { DeleteDialog, WriteDialog } from './review.js';
import { leadTo, type Open, type Saving, useSaving } from './saving.js';
import { findingsOf, formOf, type ObjectType, type Version } from './type.js';
import { type Editing, useEdit } from './use-edit.js';
import { useKnown } from './use-known.js';

/** Objects of other namespaces among which one is looked for. */
const LOOKED_AT = 20;

/** What a type shows beside its form. */
export type Beside = (shown: {
  readonly version: Version | undefined;
  readonly form: FormOf;
}) => ComponentChildren;

export function EditPage({ type, at, beside }: { type: ObjectType; at: Place; beside?: Beside }) {
  const isNew = at.query.has('new');
  const id = isNew ? undefined : at.parts.slice(1);
  const ns = at.query.get('ns') ?? '';
  const given = givenBy(at.query);
  const key = [ns, ...at.parts, isNew ? 'new' : '', ...Object.entries(given).flat()].join('/');
  const editing = useEdit(type, id, key, given);
  // The editor comes while the object is read.
  useLayoutEffect(() => {
    if (type.fields.some(({ control }) => /^(rules|json)$/.test(control.type))) void loadEditor();
  }, [type]);
  const { edit, problem, isMissing } = editing;
  const need = type.rightTo?.(id) ?? { right: type.right ?? '' };
  const may = useMay(need.right, need.on, need.ns);
  const named = edit?.before && type.nameOf(edit.before.object);
  return (
    <Page title={isNew ? TEXT.form.newTitle(type.noun) : (named ?? type.title)}>
      <Note isOver={editing.isBusy || edit?.conflict !== undefined} />
      {may === false && edit !== undefined && <ReadOnly {...need} />}
      {edit === undefined && <ProblemNotice problem={problem} />}
      {isMissing && (
        <div role="alert">
          <Empty>
            {TEXT.form.missing(type.noun)} <Link to={[type.slug]}>{TEXT.form.others}</Link>{' '}
            {id !== undefined && <Elsewhere type={type} id={id} />}
          </Empty>
        </div>
      )}
      {edit !== undefined && (
        <ObjectForm
          key={key}
          type={type}
          id={id}
          editing={editing}
          mayWrite={may !== false}
          line={Number(at.query.get('line') ?? 0)}
        />
      )}
      {edit !== undefined && beside?.({ version: edit.before, form: edit.form })}
      {edit?.before && <HistorySection type={type} of={edit.before} />}
    </Page>
  );
}

/** Leads to the object in another namespace: links to who did or may do something name none. */
function Elsewhere({ type, id }: { type: ObjectType; id: readonly string[] }) {
  const { value: ns } = useLoad(async (signal) => {
    const how = { ns: '*', typed: id[0]!, size: LOOKED_AT, signal, once: true };
    const { items } = await readFirst<Stored>(type.list([]), how);
    return items.find((item) => type.idOf(item).join() === id.join())?.['Namespace'];
  }, []);
  if (typeof ns !== 'string') return null;
  return (
    <Link to={[type.slug, ...id]} query={{ ns }}>
      {TEXT.form.elsewhere(ns)}
    </Link>
  );
}

/** Returns what a link to the form of a new object fills in: what the object is linked to. */
const givenBy = (query: URLSearchParams): FormOf =>
  Object.fromEntries(
    ['Policies', 'Roles', 'AuthMethod'].flatMap((key) => {
      const value = query.get(key);
      return value === null ? [] : [[key, value]];
    }),
  );

function ObjectForm({
  type,
  id,
  editing,
  mayWrite,
  line,
}: {
  type: ObjectType;
  /** Undefined for a new object. */
  id: readonly string[] | undefined;
  editing: Editing;
  mayWrite: boolean;
  /** The line of the rules to go to; 0 for none. */
  line: number;
}) {
  const saving = useSaving(type, id, editing);
  const { open, setOpen } = saving;
  const fields = useFirstFocus(id === undefined);
  return (
    <Form onSubmit={saving.save}>
      <Drafts type={type} editing={editing} />
      <div ref={fields}>
        <Fields type={type} editing={editing} mayWrite={mayWrite} line={line} />
      </div>
      <Conflict type={type} editing={editing} saving={saving} />
      {refusedOf(type, editing.problem) === undefined && (
        <ProblemNotice problem={editing.problem} />
      )}
      <Buttons editing={editing} mayWrite={mayWrite} onDelete={() => setOpen('delete')} />
      <FormDialog type={type} editing={editing} open={open} onClose={() => setOpen(undefined)} />
    </Form>
  );
}

/** Gives the first field of a new object the focus, after the page has given it to its heading. */
function useFirstFocus(isNew: boolean): RefObject<HTMLDivElement | null> {
  const fields = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isNew) return undefined;
    const frame = requestAnimationFrame(() => {
      if (!/^(H1|BODY)$/.test(document.activeElement?.tagName ?? 'BODY')) return;
      fields.current?.querySelector<HTMLElement>('input:enabled, select:enabled')?.focus();
    });
    return () => cancelAnimationFrame(frame);
  }, []);
  return fields;
}

/** Says that somebody else has written another version, and what becomes of what was typed. */
function Conflict({
  type,
  editing: { edit, takeTheirs },
  saving: { collisions, theirsAt, choose, keepMine, notice },
}: {
  type: ObjectType;
  editing: Editing;
  saving: Saving;
}) {
  const { before, conflict } = edit!;
  return (
    <div ref={notice}>
      {conflict !== undefined && (
        <ConflictNotice
          fields={type.fields}
          before={formOf(type, before?.object)}
          theirs={formOf(type, conflict.object)}
          onTheirs={takeTheirs}
          onMine={collisions && (() => keepMine(true))}
        >
          {collisions && <Merging collisions={collisions} theirsAt={theirsAt} onChoose={choose} />}
        </ConflictNotice>
      )}
    </div>
  );
}

function Buttons({
  editing,
  mayWrite,
  onDelete,
}: {
  editing: Editing;
  mayWrite: boolean;
  onDelete: () => void;
}) {
  const { before } = editing.edit!;
  return (
    <div class="buttons">
      <button type="submit" class="main" disabled={!mayWrite || editing.isBusy}>
        {TEXT.form.save}
      </button>
      {before === undefined && editing.isBusy && (
        <button type="button" onClick={editing.stop}>
          {TEXT.remove.cancel}
        </button>
      )}
      {before !== undefined && (
        <button
          type="button"
          class="danger"
          disabled={!mayWrite || editing.isBusy}
          onClick={onDelete}
        >
          {TEXT.form.delete}
        </button>
      )}
    </div>
  );
}

/** Asks before a write, and leads on when it is done. */
function FormDialog({
  type,
  editing,
  open,
  onClose,
}: {
  type: ObjectType;
  editing: Editing;
  open: Open;
  onClose: () => void;
}) {
  const { before } = editing.edit!;
  // A refusal closes the dialog, and what was typed in it stays.
  const reasonings = { review: useState(''), delete: useState('') };
  const isHere = visited();
  const apply = async (planned: Planned, reason: string): Promise<void> => {
    const written = await editing.write(planned, reason);
    // The dialog goes on with what is merged.
    if (written === 'overtaken') return;
    onClose();
    if (written !== undefined && isHere()) leadTo(written);
  };
  const remove = async ({ object }: Version, reason: string): Promise<void> => {
    const isRemoved = await editing.remove(reason);
    onClose();
    if (!isRemoved || !isHere()) return;
    leaveNote(TEXT.form.deleted(type.nameOf(object)));
    go(hrefOf([type.slug, ...type.idOf(object).slice(0, -1)]));
  };
  if (open === 'review')
    return (
      <WriteDialog
        type={type}
        editing={editing}
        reasoning={reasonings.review}
        onApply={apply}
        onBack={onClose}
      />
    );
  if (open === undefined || before === undefined) return null;
  return (
    <DeleteDialog
      type={type}
      before={before}
      isBusy={editing.isBusy}
      reasoning={reasonings.delete}
      onDelete={(reason) => remove(before, reason)}
      onCancel={editing.isBusy ? editing.stop : onClose}
    />
  );
}

/** What the server refused: a field, or one item of it. */
interface Refused {
  readonly key: string;
  /** The place of the item, counted from 0. */
  readonly at: number | undefined;
}

/** Returns what was refused of the fields. Editors show where in theirs it is. */
function refusedOf({ fields }: ObjectType, problem: Problem | undefined): Refused | undefined {
  const parts = problem?.pointer?.split('/').slice(1) ?? [];
  // Some fields are members of a member: /ACLs/PolicyDefaults/0. Entries have theirs in an editor.
  const isWhole = fields.every(({ apart }) => apart === undefined);
  const depth = isWhole && fields.every(({ key }) => key !== parts[0]) ? 1 : 0;
  const field = fields.find(({ key }) => key === parts[depth]);
  if (field === undefined || /json|rules/.test(field.control.type)) return undefined;
  const at = Number(parts[depth + 1]);
  return { key: field.key, at: Number.isInteger(at) ? at : undefined };
}

/** What was typed earlier: restored, or kept beside another version. */
function Drafts({ type, editing }: { type: ObjectType; editing: Editing }) {
  const { isRestored = false, typedBefore, form } = editing.edit!;
  return (
    <>
      {isRestored && (
        <div class="notice">
          <p>{TEXT.form.restored}</p>
          <button type="button" onClick={editing.discard}>
            {TEXT.form.discard}
          </button>
        </div>
      )}
      {typedBefore !== undefined && (
        <details class="notice" open>
          <summary>{TEXT.conflict.yours}</summary>
          <FormDiff fields={type.fields} before={form} after={typedBefore} />
        </details>
      )}
    </>
  );
}

function Fields({
  type,
  editing,
  mayWrite,
  line,
}: {
  type: ObjectType;
  editing: Editing;
  mayWrite: boolean;
  line: number;
}) {
  const { before, form } = editing.edit!;
  const [caret, setCaret] = useState<{ readonly key: string; readonly place: Caret } | undefined>(
    line > 0 ? { key: 'Rules', place: { line, column: 1 } } : undefined,
  );
  const findings = useLint(type.lint?.path, lintBody(type, form, before));
  const choose = ({ Field: key = 'Rules', Line = 1, Column = 1 }: Finding): void =>
    setCaret({ key, place: { line: Line, column: Column } });
  const known = useKnown(type, editing);
  const refused = refusedOf(type, editing.problem);
  useEffect(() => {
    if ((editing.fault ?? refused?.key) !== undefined)
      document.querySelector<HTMLElement>('main form [aria-invalid=true]')?.focus();
  }, [editing.fault, refused?.key, refused?.at]);
  const errorOf = ({ key }: Field): string | undefined => {
    if (editing.fault?.field === key) return editing.fault.message;
    return refused?.key === key ? editing.problem?.message : undefined;
  };
  const fields = type.fields.filter(({ isOfNew }) => !(isOfNew && before !== undefined));
  return fields.map((field) => (
    <Fragment key={field.key}>
      <Control
        label={field.label}
        help={field.help ?? known(field).sentence}
        error={errorOf(field) ?? known(field).mistake}
        errorAt={refused?.at}
        isRequired={field.isRequired}
        value={form[field.key] ?? ''}
        onInput={(value) => editing.set(field.key, value)}
        isDisabled={!mayWrite || (field.isFixed === true && before !== undefined)}
        control={field.controlOf?.(form) ?? field.control}
        findings={findingsOf(field, findings)}
        known={known(field)}
        layout={field.layoutOf?.(form)}
        caret={caret?.key === field.key ? caret.place : undefined}
      />
      {type.lint?.below === field.key && <Findings findings={findings} onChoose={choose} />}
    </Fragment>
  ));
}

/**
 * The body for lint: the texts of the form, and the ID of the object that they replace. There is
 * none for a new binding rule before anything is typed.
 */
function lintBody(
  { slug }: ObjectType,
  form: FormOf,
  before: Version | undefined,
): object | undefined {
  if (slug === 'policies') return { Rules: form['Rules'] };
  const { AuthMethod, Selector, BindType, BindName } = form;
  if (!AuthMethod && !Selector && !BindName) return undefined;
  const ID = before?.object['ID'];
  const BindVars = form['BindVars'] && objectIn(form['BindVars']);
  const more = { ...(ID !== undefined && { ID }), ...(BindVars && { BindVars }) };
  return { ...more, AuthMethod, Selector, BindType, BindName };
}
