/** The page Explain: why may a token do something, or may not? */
import { useState } from 'preact/hooks';
import { question, read } from '../api/client.js';
import type { Decision, Explained, Question } from '../api/types.js';
import { Linked } from '../objects/beside.js';
import { RULES } from '../objects/linking.js';
import { TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { ListPicker } from '../parts/list-picker.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Panel } from '../parts/panel.js';
import { Time } from '../parts/time.js';
import { go, hrefOf, type Place } from '../router.js';
import { TEXT } from '../texts.js';
import { AsOf, atQuery, MomentField, Oldest } from './moment.js';
import { QuestionFields } from './question.js';
import { ResultView } from './result.js';

interface Shown {
  readonly explained?: Explained;
  readonly decision?: Decision;
}

/** What the address asks for, if anything. */
async function answerOf(query: URLSearchParams, signal: AbortSignal): Promise<Shown> {
  const decision = query.get('decision');
  const path = `/v1/acl/decision/${encodeURIComponent(decision ?? '')}`;
  if (decision !== null) return { decision: await read<Decision>(path, { signal }) };
  const [Resource, Access] = [query.get('resource'), query.get('access')];
  if (Resource === null || Access === null) return {};
  const AccessorID = query.get('accessor') ?? undefined;
  const Requests = [{ Resource, Access, Segment: query.get('segment') ?? '' }];
  const body = { AccessorID, Requests };
  const how = { signal, query: atQuery(query.get('at') ?? '') };
  return { explained: await question<Explained>('/v1/acl/authorize/explain', body, how) };
}

/** The question stands in the address, so that it can be sent to somebody. */
export function ExplainPage({ at }: { at: Place }) {
  const { value, problem } = useLoad((signal) => answerOf(at.query, signal), [at.visit]);
  const { explained, decision } = value ?? {};
  return (
    <Page title={TEXT.page.explain} about={TEXT.explain.about}>
      <ExplainForm query={at.query} />
      <ProblemNotice problem={problem}>
        <Oldest problem={problem} />
      </ProblemNotice>
      <Status>
        <AsOf at={explained?.At} />
        {explained?.Results.map((result) => (
          <ResultView key={result.Text} result={result} />
        ))}
      </Status>
      {decision !== undefined && <DecisionView decision={decision} />}
    </Page>
  );
}

function ExplainForm({ query }: { query: URLSearchParams }) {
  const [asked, setAsked] = useState<Question>({
    Resource: query.get('resource') ?? 'service',
    Access: query.get('access') ?? 'write',
    Segment: query.get('segment') ?? '',
  });
  const [accessor, setAccessor] = useState(query.get('accessor') ?? '');
  const [at, setAt] = useState(query.get('at') ?? '');
  const [decision, setDecision] = useState(query.get('decision') ?? '');
  const ask = (): void => {
    const given = {
      resource: asked.Resource,
      access: asked.Access,
      segment: asked.Segment || undefined,
      accessor: accessor || undefined,
      ...atQuery(at),
    };
    go(hrefOf(['explain'], decision === '' ? given : { decision: decision.trim() }));
  };
  return (
    <Form class="panel" onSubmit={() => ask()}>
      <QuestionFields question={asked} onChange={setAsked} />
      <div class="row fields">
        <ListPicker
          label={TEXT.field.accessor}
          help={TEXT.help.accessor}
          list="/v1/acl/tokens"
          value={accessor}
          onInput={setAccessor}
        />
        <MomentField value={at} onInput={setAt} />
        <TextField
          label={TEXT.field.decision}
          help={TEXT.help.decision}
          value={decision}
          onInput={setDecision}
        />
      </div>
      <button type="submit" class="main">
        {TEXT.explain.ask}
      </button>
    </Form>
  );
}

function DecisionView({ decision }: { decision: Decision }) {
  const { Time: time, Method, Path, Node, Message, Changed, Now, Login } = decision;
  return (
    <Panel title={TEXT.explain.decision}>
      <p>
        <code>
          {Method} {Path}
        </code>{' '}
        {TEXT.explain.refusedBy(Node)} <Time at={time} />
      </p>
      <p>{Message}</p>
      {Login !== null && (
        <>
          <p>{TEXT.explain.login(Login.AuthMethod, Login.Reason)}</p>
          <p>
            <Link to={['auth-methods', Login.AuthMethod]} query={{ ns: Login.Namespace }}>
              {TEXT.explain.method}
            </Link>
          </p>
          <Linked by={RULES} of={{ object: { Name: Login.AuthMethod } }} ns={Login.Namespace} />
        </>
      )}
      {Now !== null && (
        <>
          <p>{Changed ? TEXT.explain.changed : TEXT.explain.unchanged}</p>
          <ResultView result={Now} />
        </>
      )}
    </Panel>
  );
}
