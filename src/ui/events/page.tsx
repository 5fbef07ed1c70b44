/** The changes of objects, as they happen. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Event, Gap } from '../../api/events.js';
import { readEvents } from '../api/events.js';
import type { Problem } from '../api/problem.js';
import { TOPICS } from '../event-texts.js';
import { CheckField, SelectField } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { Empty, ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { namespace } from '../router.js';
import { TEXT } from '../texts.js';

/** Rows that are kept. */
const ROWS_MAX = 500;

/** A row: a change, or changes that may be missing. */
type Row = { readonly key: number } & (
  | { readonly event: Event; readonly gap?: undefined }
  | { readonly gap: Gap; readonly event?: undefined }
);

let made = 0;
const keyed = <T extends object>(row: T): T & { readonly key: number } => {
  made += 1;
  return { ...row, key: made };
};

export function EventsPage() {
  const [topic, setTopic] = useState<string>(TOPICS[0]);
  const [logins, setLogins] = useState('false');
  const [isPaused, setPaused] = useState(false);
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [state, setState] = useState<{ isOpen: boolean; problem?: Problem | undefined }>({
    isOpen: false,
  });
  const held = useRef<Row[]>([]);
  const paused = useRef(false);
  const ns = namespace();
  const add = (more: readonly Row[]): void => {
    if (paused.current) held.current = [...more, ...held.current].slice(0, ROWS_MAX);
    else setRows((before) => [...more, ...before].slice(0, ROWS_MAX));
  };
  useLayoutEffect(() => {
    const end = new AbortController();
    setRows([]);
    setState({ isOpen: false });
    held.current = [];
    const query = { topics: topic === TOPICS[0] ? undefined : topic, payload: 'none', logins };
    void readEvents(query, end.signal, {
      onEvents: (events) => add(events.map((event) => keyed({ event })).reverse()),
      onGap: (gap) => add([keyed({ gap })]),
      onState: (isOpen, problem) => setState({ isOpen, problem }),
    });
    return () => end.abort();
  }, [topic, logins, ns]);
  const togglePause = (): void => {
    paused.current = !isPaused;
    setPaused(!isPaused);
    if (!isPaused) return;
    add(held.current);
    held.current = [];
  };
  const { isOpen, problem } = state;
  return (
    <Page title={TEXT.page.events} about={TEXT.events.about}>
      <ProblemNotice problem={problem} />
      <SelectField label={TEXT.events.topic} options={TOPICS} value={topic} onInput={setTopic} />
      <CheckField label={TEXT.events.logins} value={logins} onInput={setLogins} />
      <div class="buttons">
        <button type="button" onClick={togglePause}>
          {isPaused ? TEXT.events.goOn : TEXT.events.pause}
        </button>
      </div>
      <Status>
        {isPaused ? TEXT.events.paused : isOpen || problem !== undefined ? '' : TEXT.events.again}
      </Status>
      {rows.length === 0 ? <Empty>{TEXT.events.waiting}</Empty> : <Rows all={rows} />}
    </Page>
  );
}

const Rows = ({ all }: { all: readonly Row[] }) => (
  <Table caption={TEXT.page.events} label={TEXT.events.table} columns={TEXT.events.columns}>
    {all.map(({ key, event, gap }) =>
      gap === undefined ? (
        <EventRow key={key} of={event} />
      ) : (
        <tr key={key}>
          <td colSpan={TEXT.events.columns.length}>
            {TEXT.events.gap(gap.From, gap.To, gap.Reason)}
          </td>
        </tr>
      ),
    )}
  </Table>
);

const EventRow = ({ of }: { of: Event }) => (
  <tr>
    <td>
      <Time at={of.Time ?? undefined} />
    </td>
    <td>{of.Index}</td>
    <td>{of.Type}</td>
    <td>
      <ObjectLink of={of} />
    </td>
    <td>{of.Namespace ?? ''}</td>
    <td>{whoOf(of)}</td>
    <td>{of.Reason ?? ''}</td>
  </tr>
);

/** The pages of objects by topic. */
const PAGES: Readonly<Record<string, string>> = {
  ACLPolicy: 'policies',
  ACLRole: 'roles',
  ACLToken: 'tokens',
  ACLAuthMethod: 'auth-methods',
  ACLBindingRule: 'binding-rules',
  Namespace: 'namespaces',
  ConfigEntry: 'config',
};

function ObjectLink({ of: { Topic, Type, Key, Name } }: { of: Event }) {
  const page = PAGES[Topic];
  const text = Topic === 'ConfigEntry' ? Key : Name || Key;
  if (page === undefined || Type.endsWith('Deleted')) return <>{text}</>;
  const at = Key.indexOf('/');
  const path = Topic === 'ConfigEntry' ? [Key.slice(0, at), Key.slice(at + 1)] : [Key];
  return <Link to={[page, ...path]}>{text}</Link>;
}

function whoOf({ Author }: Event): string {
  if (Author === null || Author === undefined) return '';
  const { Identity, Description, AccessorID } = Author;
  if (Identity !== undefined) return `${Identity.AuthMethod}/${Identity.Subject}`;
  return Description || AccessorID.slice(0, 8);
}
