/** Answers to questions for decisions, as people see them. */
import { type Decided, type Line, reasonOf } from '../../api/decided.js';
import type { Result } from '../api/types.js';
import { RulesView } from '../explain/result.js';
import { Copied } from '../parts/copied.js';
import { Link } from '../parts/link.js';
import { Panel } from '../parts/panel.js';
import { Table } from '../parts/table.js';
import { TEXT } from '../texts.js';
import type { ShownRequest, Someone } from './asked.js';

const { decisions } = TEXT;

/** The decision, its reason, and the way to the rule where the user may know it. */
export function DecidedView({ answer, why }: { answer: Decided; why: Result | undefined }) {
  return (
    <div class="result">
      <h2>{answer.decision ? decisions.allowed : decisions.denied}</h2>
      <p>{reasonOf(answer) ?? decisions.noReason}</p>
      {why !== undefined && <RulesView result={why} />}
    </div>
  );
}

/** The same as a program sees it. */
export const ForPrograms = ({ answer, request }: { answer: Decided; request: ShownRequest }) => (
  <Panel title={decisions.forPrograms}>
    <Copied title={decisions.request} text={request.json} />
    <Copied title={decisions.answer} text={JSON.stringify(answer, null, 2)} />
    <Copied title={decisions.curl} text={request.curl} />
  </Panel>
);

/** Subjects that are allowed. */
export const WhoTable = ({ rows }: { rows: readonly Someone[] }) => (
  <Table caption={decisions.whoTitle} columns={decisions.whoColumns}>
    {rows.map(({ type, id, properties: { namespace, description = '' } }) => (
      <tr key={`${type} ${namespace} ${id}`}>
        <td>{type}</td>
        <th scope="row">
          {type === 'token' ? (
            <Link to={['tokens', id]} query={{ ns: namespace }}>
              {id}
            </Link>
          ) : (
            id
          )}
        </th>
        <td>{description}</td>
        <td>{namespace}</td>
      </tr>
    ))}
  </Table>
);

/** What a subject may do, as far as rules name it. */
export const WhatTable = ({ rows }: { rows: readonly Line[] }) => (
  <Table caption={decisions.whatTitle} columns={decisions.whatColumns}>
    {rows.map(({ allow, action, id }) => (
      <tr key={`${action} ${id}`}>
        <td>
          <strong class={allow ? 'verdict good' : 'verdict bad'}>
            {allow ? decisions.allow : decisions.deny}
          </strong>
        </td>
        <td>{action}</td>
        <td>{id}</td>
      </tr>
    ))}
  </Table>
);
