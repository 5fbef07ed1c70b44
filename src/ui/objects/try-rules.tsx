/** Questions against rules that are not stored yet. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import type { Explained, Question } from '../api/types.js';
import { QuestionFields } from '../explain/question.js';
import { ResultView } from '../explain/result.js';
import { Form, useAttempt } from '../parts/form.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { TEXT } from '../texts.js';

/** What a token with these rules alone could do. */
export function TryRules({ rules }: { rules: string }) {
  const [asked, setAsked] = useState<Question>({
    Resource: 'service',
    Access: 'write',
    Segment: 'web',
  });
  const [explained, setExplained] = useState<Explained>();
  const { problem, isBusy, attempt } = useAttempt();
  const ask = async (): Promise<void> => {
    const body = { Draft: { Rules: rules }, Requests: [asked] };
    setExplained(await question<Explained>('/v1/acl/authorize/explain', body));
  };
  return (
    <Panel title={TEXT.explain.tryIt}>
      <p class="help">{TEXT.explain.tryAbout}</p>
      <Form onSubmit={() => void attempt(ask)}>
        <QuestionFields question={asked} onChange={setAsked} />
        <button type="submit" disabled={isBusy}>
          {TEXT.explain.ask}
        </button>
      </Form>
      <ProblemNotice problem={problem} />
      <Status>
        {explained?.Results.map((result) => (
          <ResultView key={result.Text} result={result} />
        ))}
      </Status>
    </Panel>
  );
}
