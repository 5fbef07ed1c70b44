/** The report of a migration: a file that is opened here, object by object. */
import { useEffect, useState } from 'preact/hooks';
import type {
  Finding,
  Problem,
  Report,
  RightsDifference,
  TypeCounts,
  Writer,
} from '../../api/migration-report.js';
import { RulesView } from '../explain/result.js';
import { objectPage } from '../objects/linking.js';
import { Diff } from '../parts/diff.js';
import { Labelled, SelectField, TextField } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { Empty, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table, Term } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';
import { BYTES_MAX, chosenOf, refIn, reportIn, whyHere } from './report.js';

const { migration } = TEXT;
/** Findings that are shown at first, and added by each "Show more". */
const SHOWN = 100;
const UUID_LENGTH = 36;

async function opened(file: File): Promise<Report | string> {
  if (file.size > BYTES_MAX) return migration.problems.tooLarge(`${BYTES_MAX / 2 ** 20} MB`);
  return reportIn(await file.text());
}

export function MigrationPage() {
  const [report, setReport] = useState<Report | string>();
  const open = async (files: FileList | null | undefined): Promise<void> => {
    const file = files?.[0];
    if (file !== undefined) setReport(await opened(file));
  };
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    addEventListener('dragover', (event) => event.preventDefault(), { signal });
    addEventListener(
      'drop',
      (event) => {
        event.preventDefault();
        void open(event.dataTransfer?.files);
      },
      { signal },
    );
    return () => end.abort();
  }, []);
  return (
    <Page title={TEXT.page.migration} about={migration.about}>
      <div class="panel">
        <Labelled label={migration.file} help={migration.fileHelp}>
          {(ties) => (
            <input
              {...ties}
              type="file"
              accept=".json,application/json"
              onChange={({ currentTarget }) => open(currentTarget.files)}
            />
          )}
        </Labelled>
      </div>
      {typeof report === 'string' && (
        <p class="notice bad" role="alert">
          {report}
        </p>
      )}
      {typeof report === 'object' && <ReportView report={report} key={report.Time} />}
    </Page>
  );
}

function ReportView({ report }: { report: Report }) {
  const { Types, Problems = [], Findings, Rights, Writers = [] } = report;
  return (
    <>
      <Head report={report} />
      <TypeTable types={Types} />
      {Problems.length > 0 && <ProblemTable all={Problems} />}
      <FindingsView all={Findings} />
      <RightsView rights={Rights} />
      {Writers.length > 0 && <WriterTable all={Writers} />}
    </>
  );
}

function Head({ report: { Time: at, Source, Target, DryRun, Exit } }: { report: Report }) {
  const { Address, Version, Datacenter, DefaultPolicy } = Source;
  const { unknown } = migration;
  return (
    <>
      <Status>
        <strong>{migration.exits[Exit] ?? migration.exit(Exit)}</strong>{' '}
        {DryRun && migration.dryRun}
      </Status>
      <dl class="facts">
        <Term name={migration.time}>
          <Time at={at} />
        </Term>
        <Term name={migration.from}>
          {migration.source(Address, Version)},{' '}
          {migration.datacenter(Datacenter ?? unknown, DefaultPolicy ?? unknown)}
        </Term>
        <Term name={migration.to}>
          {migration.datacenter(Target.Datacenter, Target.DefaultPolicy)},{' '}
          {migration.index(Target.Index, Target.Level)}
        </Term>
      </dl>
    </>
  );
}

/** Returns the first items of a list, and a button that shows more. `about`: begins afresh. */
function useFirst<T>(all: readonly T[], about = '') {
  const [{ most, of }, setMost] = useState({ most: SHOWN, of: about });
  const shown = of === about ? most : SHOWN;
  const button = all.length > shown && (
    <button type="button" onClick={() => setMost({ most: shown + SHOWN, of: about })}>
      {migration.more(all.length - shown)}
    </button>
  );
  return { items: all.slice(0, shown), button };
}

const count = (value: number): string => value.toLocaleString('en');

const TypeTable = ({ types }: { types: Report['Types'] }) => (
  <Table caption={migration.types} columns={migration.typeColumns}>
    {Object.entries(types).map(([type, of]) => (
      <tr key={type}>
        <th scope="row">{type}</th>
        {COUNTED.map((name) => (
          <td key={name}>{count(of[name])}</td>
        ))}
      </tr>
    ))}
  </Table>
);

const COUNTED: readonly (keyof TypeCounts)[] = [
  'Source',
  'Same',
  'Create',
  'Update',
  'Delete',
  'LeftOut',
];

function ProblemTable({ all }: { all: readonly Problem[] }) {
  const { items, button } = useFirst(all);
  return (
    <>
      <Table caption={migration.blocked} columns={migration.blockedColumns}>
        {items.map(({ Ref, Code, Message }, at) => (
          <tr key={at}>
            <th scope="row">
              <RefLink to={Ref} />
            </th>
            <td>
              <code>{Code}</code>
            </td>
            <td>{Message}</td>
          </tr>
        ))}
      </Table>
      {button}
    </>
  );
}

/** An object of the report, which leads to its page if it is here, or to the list that finds it. */
function RefLink({ to, isAbsent = false }: { to: string; isAbsent?: boolean }) {
  const { type, ns, id } = refIn(to);
  const page = objectPage(type, id);
  if (isAbsent || page === undefined) return to;
  const query = ns === '' ? {} : { ns };
  const isByName = type === 'policy' || type === 'role';
  // a binding rule that a set has made is called by its handle
  if (type === 'binding-rule' && id[0]?.length !== UUID_LENGTH) return to;
  return isByName ? (
    <Link to={page.slice(0, 1)} query={{ ...query, filter: id[0] }}>
      {to}
    </Link>
  ) : (
    <Link to={page} query={query}>
      {to}
    </Link>
  );
}

function FindingsView({ all }: { all: readonly Finding[] }) {
  const [code, setCode] = useState('');
  const [type, setType] = useState('');
  const [words, setWords] = useState('');
  const choose = (set: (value: string) => void) => (value: string) =>
    set(value === migration.all ? '' : value);
  const optionsOf = (of: (one: Finding) => string): string[] => [
    migration.all,
    ...[...new Set(all.map(of))].sort(),
  ];
  const chosen = chosenOf(all, { code, type, words });
  const first = useFirst(chosen, `${code} ${type} ${words}`);
  if (all.length === 0) return <Empty>{migration.noFindings}</Empty>;
  return (
    <>
      <h2>{migration.findings}</h2>
      <div class="row fields">
        <SelectField
          label={migration.code}
          options={optionsOf(({ Code }) => Code)}
          value={code || migration.all}
          onInput={choose(setCode)}
        />
        <SelectField
          label={migration.typeColumns[0]}
          options={optionsOf(({ Ref }) => refIn(Ref).type)}
          value={type || migration.all}
          onInput={choose(setType)}
        />
        <TextField label={TEXT.list.filter} value={words} onInput={choose(setWords)} />
      </div>
      <Status>{migration.found(chosen.length, all.length)}</Status>
      {chosen.length === 0 ? (
        <Empty>{migration.nothing}</Empty>
      ) : (
        <Table caption={migration.findings} kind="report" columns={migration.findingColumns}>
          {first.items.map((one, at) => (
            <FindingRow key={at} of={one} />
          ))}
        </Table>
      )}
      {first.button}
    </>
  );
}

function FindingRow({ of }: { of: Finding }) {
  const { Ref, Code, Message, Line, Column, Pointer, Lost, Do, LeftOut, Original, Mended } = of;
  const place = Pointer ?? migration.place(Line, Column);
  return (
    <tr>
      <th scope="row">
        <RefLink to={Ref} isAbsent={LeftOut} />
        {LeftOut && <div class="quiet">{migration.leftOut}</div>}
      </th>
      <td>
        <code>{Code}</code> <span class="quiet">{place}</span>
        <div>{Message}</div>
        {Original !== undefined && Mended !== undefined && (
          <details>
            <summary>{migration.mended}</summary>
            <Diff before={Original} after={Mended} />
          </details>
        )}
      </td>
      <td>{Lost}</td>
      <td>{Do}</td>
    </tr>
  );
}

function RightsView({ rights }: { rights: Report['Rights'] }) {
  if (rights === undefined)
    return (
      <>
        <h2>{migration.rights}</h2>
        <Empty>{migration.notCompared}</Empty>
      </>
    );
  const { Tokens, Classes, Questions, Differences, More = 0, Equal, Asked } = rights;
  const isAsked = Asked !== undefined && Asked.Tokens > 0;
  const same = Differences.length === 0 ? migration.equal : migration.accepted;
  return (
    <>
      <h2>{migration.rights}</h2>
      <p>
        {migration.compared(Tokens, Classes, Questions)}{' '}
        {isAsked && migration.asked(Asked.Tokens, Asked.Questions)}{' '}
        <strong>{Equal ? same : migration.differ}</strong>
      </p>
      {Differences.length > 0 && <DifferenceTable all={Differences} />}
      {More > 0 && <p>{migration.moreDifferences(More)}</p>}
    </>
  );
}

function DifferenceTable({ all }: { all: readonly RightsDifference[] }) {
  const { items, button } = useFirst(all);
  return (
    <>
      <Table caption={migration.rights} columns={migration.differenceColumns}>
        {items.map((one, at) => (
          <DifferenceRow key={at} of={one} />
        ))}
      </Table>
      {button}
    </>
  );
}

function DifferenceRow({ of }: { of: RightsDifference }) {
  const { Code, Tokens, Sample, LeftOut = [], Resource, Access, Segment, Namespace } = of;
  const { Source, Target } = of;
  const why = whyHere(of);
  const verdict = (isAllowed: boolean) => (
    <strong class={isAllowed ? 'verdict good' : 'verdict bad'}>
      {isAllowed ? migration.allowed : migration.denied}
    </strong>
  );
  return (
    <tr>
      <th scope="row">
        {migration.tokens(Tokens)}
        {Sample.map((accessor) => (
          <div key={accessor}>
            <Link to={['tokens', accessor]}>{accessor}</Link>
          </div>
        ))}
      </th>
      <td>{migration.question(Resource, Access, Segment, Namespace)}</td>
      <td>
        {verdict(Source.Allow)} {Source.Rule !== undefined && <code>{Source.Rule}</code>}
      </td>
      <td>
        {verdict(Target.Allow)}
        {why !== undefined && (
          <details>
            <summary>{migration.why}</summary>
            <p>{why.Text}</p>
            <RulesView result={why} />
          </details>
        )}
      </td>
      <td>
        <code>{Code}</code> {migration.codes[Code]}
        {LeftOut.map((ref) => (
          <div key={ref}>{ref}</div>
        ))}
      </td>
    </tr>
  );
}

const WriterTable = ({ all }: { all: readonly Writer[] }) => (
  <Table caption={migration.writers} columns={migration.writerColumns}>
    {all.map(({ AccessorID, Description, Rights }) => (
      <tr key={AccessorID}>
        <th scope="row">
          <Link to={['tokens', AccessorID]}>{AccessorID}</Link>
        </th>
        <td>{Description}</td>
        <td>{Rights.join(', ')}</td>
      </tr>
    ))}
  </Table>
);
