/** A configuration of the cluster as a form. */
import { useState } from 'preact/hooks';
import { ask, read } from '../api/client.js';
import { Problem } from '../api/problem.js';
import { isOutdated } from '../api/sets.js';
import { wordsOf } from '../forms/layout.js';
import { CheckField, type FieldProps, SelectField, TextField } from '../parts/field.js';
import { Form, useAttempt } from '../parts/form.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, ReadOnly, Status } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { useMay } from '../parts/rights.js';
import { Table } from '../parts/table.js';
import { ReviewDialog } from '../plan/review.js';
import { TEXT } from '../texts.js';

const T = TEXT.settings;

/** What is stored. */
type Stored = Readonly<Record<string, unknown>> & { readonly ModifyIndex: number };

/** A configuration, and how it is shown. */
export interface Configuration {
  readonly title: string;
  readonly about: string;
  readonly path: string;
  /** The members that the form shows. */
  readonly members: readonly string[];
  /** The values of members that have only some. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
  /** Whether `cas` guards a write; If-Match by default. */
  readonly byCas?: true;
  /** The right that a write requires. */
  readonly right: string;
}

/** Returns a typed text as the stored value has it. Throws `Problem`. */
function typedValue(member: string, stored: unknown, text: string): unknown {
  if (typeof stored === 'boolean') return text === 'true';
  if (typeof stored !== 'number') return text.trim();
  if (/^\d+$/.test(text.trim())) return Number(text);
  throw new Problem(400, { detail: T.noNumber, pointer: `/${member}` });
}

/** Writes a configuration if it is still the one that was read. Throws `Problem`. */
async function write(
  { path, byCas }: Configuration,
  stored: Stored,
  changed: object,
  signal: AbortSignal,
) {
  const { ModifyIndex, CreateIndex: _created, ...rest } = stored;
  const how = { method: 'PUT', body: { ...rest, ...changed }, signal } as const;
  const outdated = new Problem(412, { detail: T.outdated });
  if (byCas) {
    const isWritten = await read(path, { ...how, query: { cas: String(ModifyIndex) } });
    if (isWritten === false) throw outdated;
    return;
  }
  await ask(path, { ...how, ifMatch: ModifyIndex }).catch((error: unknown) => {
    throw isOutdated(error) ? outdated : error;
  });
}

/** What is typed into a configuration, and what is done with it. */
function useTyped(of: Configuration) {
  const {
    value: stored,
    problem,
    reload,
  } = useLoad((signal) => read<Stored>(of.path, { signal, ns: '' }), [of.path]);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [review, setReview] = useState<Readonly<Record<string, unknown>>>();
  const [isSaved, setSaved] = useState(false);
  const attempting = useAttempt();
  const storedText = (member: string): string => String(stored?.[member] ?? '');
  const textOf = (member: string): string => typed[member] ?? storedText(member);
  const check = async (): Promise<void> => {
    const changed = of.members.filter((member) => textOf(member) !== storedText(member));
    const values = changed.map((member) => [
      member,
      typedValue(member, stored![member], textOf(member)),
    ]);
    setSaved(false);
    setReview(Object.fromEntries(values));
  };
  const apply = async (changed: object, signal: AbortSignal): Promise<void> => {
    setReview(undefined);
    try {
      await write(of, stored!, changed, signal);
      setTyped({});
      setSaved(true);
    } finally {
      reload();
    }
  };
  const set = (member: string, text: string): void => setTyped({ ...typed, [member]: text });
  return { stored, problem, review, isSaved, attempting, textOf, set, check, apply, setReview };
}

/** The form. What is typed is reviewed before it is written. */
export function ConfigurationForm({ of }: { of: Configuration }) {
  const { members, right } = of;
  const form = useTyped(of);
  const { stored, review, isSaved } = form;
  const { problem: refused, isBusy, attempt } = form.attempting;
  const may = useMay(right, undefined, 'default');
  const wrongOf = (member: string): string | undefined =>
    refused?.pointer === `/${member}` ? refused.message : undefined;
  return (
    <Panel title={of.title} about={of.about} problem={form.problem}>
      {may === false && <ReadOnly right={right} ns="default" />}
      {stored !== undefined && (
        <Form onSubmit={() => void attempt(form.check)}>
          {members.map((member) => (
            <Member
              key={member}
              name={member}
              stored={stored[member]}
              options={of.options?.[member]}
              error={wrongOf(member)}
              value={form.textOf(member)}
              isDisabled={may === false}
              onInput={(text) => form.set(member, text)}
            />
          ))}
          {members.every((member) => wrongOf(member) === undefined) && (
            <ProblemNotice problem={refused} />
          )}
          <Status>{isSaved && T.saved}</Status>
          <button type="submit" class="main" disabled={may === false || isBusy}>
            {T.save}
          </button>
        </Form>
      )}
      {review !== undefined && (
        <ReviewDialog
          isReady
          isBusy={isBusy}
          mayReason={false}
          onApply={
            isEmpty(review) ? undefined : () => void attempt((signal) => form.apply(review, signal))
          }
          onBack={() => form.setReview(undefined)}
        >
          <Changes stored={stored!} changed={review} />
        </ReviewDialog>
      )}
    </Panel>
  );
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;

/** The field of a member. */
function Member({
  name,
  stored,
  options,
  ...rest
}: Omit<FieldProps, 'label'> & {
  name: string;
  stored: unknown;
  options: readonly string[] | undefined;
}) {
  const field = { ...rest, label: wordsOf(name), help: T.help[name] || undefined };
  if (typeof stored === 'boolean') return <CheckField {...field} />;
  return options === undefined ? (
    <TextField {...field} />
  ) : (
    <SelectField {...field} options={options} />
  );
}

/** What differs from what is stored. */
function Changes({ stored, changed }: { stored: Stored; changed: object }) {
  const entries = Object.entries(changed);
  if (isEmpty(changed)) return <p>{TEXT.review.nothing}</p>;
  return (
    <Table caption={TEXT.diff.title} columns={T.changes}>
      {entries.map(([member, value]) => (
        <tr key={member}>
          <th scope="row">{wordsOf(member)}</th>
          <td>{String(stored[member])}</td>
          <td>{String(value)}</td>
        </tr>
      ))}
    </Table>
  );
}
