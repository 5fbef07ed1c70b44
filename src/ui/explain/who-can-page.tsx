/** The page Who can: which tokens may read and write chosen resources. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import type { Group, Question, Result, WhoCan } from '../api/types.js';
import { Dialog } from '../parts/dialog.js';
import { Form, useAttempt } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { groupName, keyOf } from './groups.js';
import { atQuery, MomentField, Oldest } from './moment.js';
import { QuestionFields } from './question.js';
import { ResultView } from './result.js';

/** One column: a question and its answer. */
interface Column {
  readonly asked: Asked;
  readonly answer: WhoCan;
}

/** A question, and the moment that it is about; '' for now. */
interface Asked extends Question {
  readonly at: string;
}

/** Kinds of tokens down, questions across. A cell opens the explanation. */
export function WhoCanPage() {
  const [columns, setColumns] = useState<readonly Column[]>([]);
  const { problem, isBusy, attempt } = useAttempt();
  const [open, setOpen] = useState<Result>();
  const ask = async (asked: Asked): Promise<void> => {
    const { at, ...body } = asked;
    const how = { query: atQuery(at) };
    const answer = await question<WhoCan>('/v1/acl/who-can', body, how);
    const isOther = (column: Column): boolean => titleOf(column.asked) !== titleOf(asked);
    setColumns((before) => [...before.filter(isOther), { asked, answer }]);
  };
  return (
    <Page title={TEXT.page.whoCan} about={TEXT.whoCan.about}>
      <AskForm
        isBusy={isBusy}
        onAsk={(asked) => void attempt(() => ask(asked))}
        onClear={columns.length === 0 ? undefined : () => setColumns([])}
      />
      <ProblemNotice problem={problem}>
        <Oldest problem={problem} />
      </ProblemNotice>
      <Status>
        {isBusy && TEXT.whoCan.searching}
        {columns.map(({ asked, answer }) => (
          <p key={titleOf(asked)}>
            {TEXT.whoCan.found(titleOf(asked), answer.Allowed, answer.Scanned)}{' '}
            {answer.MoreGroups > 0 && TEXT.whoCan.more(answer.MoreGroups)}{' '}
            {answer.Truncated && TEXT.whoCan.truncated} {answer.Filtered && TEXT.whoCan.filtered}
            {answer.LoginsSince !== undefined && TEXT.moment.loginsSince(answer.LoginsSince)}
          </p>
        ))}
      </Status>
      {columns.length > 0 && <Matrix columns={columns} onOpen={setOpen} />}
      {open !== undefined && (
        <Dialog title={TEXT.whoCan.why} onClose={() => setOpen(undefined)}>
          <ResultView result={open} />
          <div class="buttons">
            <button type="button" onClick={() => setOpen(undefined)}>
              {TEXT.whoCan.close}
            </button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

function AskForm({
  isBusy,
  onAsk,
  onClear,
}: {
  isBusy: boolean;
  onAsk: (asked: Asked) => void;
  onClear: (() => void) | undefined;
}) {
  const [asked, setAsked] = useState<Question>({
    Resource: 'service',
    Access: 'write',
    Segment: '',
  });
  const [at, setAt] = useState('');
  return (
    <Form class="panel" onSubmit={() => onAsk({ ...asked, at: at.trim() })}>
      <QuestionFields question={asked} onChange={setAsked} />
      <MomentField value={at} onInput={setAt} />
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>
          {TEXT.whoCan.ask}
        </button>
        {onClear !== undefined && (
          <button type="button" onClick={onClear}>
            {TEXT.whoCan.clear}
          </button>
        )}
      </div>
    </Form>
  );
}

const titleOf = ({ Resource, Access, Segment = '', at }: Asked): string => {
  const title = Segment === '' ? `${Resource}:${Access}` : `${Resource}:${Access} ${Segment}`;
  return at === '' ? title : `${title} (${TEXT.moment.titled(at)})`;
};

function Matrix({
  columns,
  onOpen,
}: {
  columns: readonly Column[];
  onOpen: (result: Result) => void;
}) {
  const rows = new Map<string, Group>();
  for (const { answer } of columns)
    for (const group of answer.Groups) if (!rows.has(keyOf(group))) rows.set(keyOf(group), group);
  return (
    <Table
      caption={TEXT.page.whoCan}
      label={TEXT.whoCan.table}
      columns={[TEXT.whoCan.tokens, ...columns.map(({ asked }) => titleOf(asked))]}
    >
      {[...rows].map(([key, group]) => (
        <tr key={key}>
          <th scope="row">
            <GroupName group={group} />
          </th>
          {columns.map(({ asked, answer }) => {
            const found = answer.Groups.find((each) => keyOf(each) === key);
            return (
              <td key={titleOf(asked)}>
                {found === undefined ? (
                  absenceOf(answer)
                ) : (
                  <button type="button" onClick={() => onOpen(found.Result)}>
                    {TEXT.whoCan.yes}
                  </button>
                )}
              </td>
            );
          })}
        </tr>
      ))}
    </Table>
  );
}

/** What it says of a group that an answer does not list it. */
const absenceOf = ({ Truncated, MoreGroups }: WhoCan): string =>
  Truncated || MoreGroups > 0 ? TEXT.whoCan.unknown : TEXT.whoCan.no;

function GroupName({ group }: { group: Group }) {
  const [first] = group.Sample;
  return (
    <>
      {groupName(group)}
      <span class="quiet">
        {' '}
        {TEXT.whoCan.count(group.Tokens)}
        {first !== undefined && (
          <>
            {': '}
            <Link to={['tokens', first.AccessorID]} query={{ ns: group.Namespace }}>
              {first.Description || first.AccessorID}
            </Link>
          </>
        )}
      </span>
    </>
  );
}
