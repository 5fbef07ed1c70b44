/** Questions against rules that are not stored yet. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import type { Explained, Question } from '../api/types.js';
import { QuestionFields } from '../explain/question.js';
import { ResultView } from '../explain/result.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { TEXT } from '../texts.js';

/** What a token with these rules alone could do. */
export function TryRules({ rules }: { rules: string }) {
  const [asked, setAsked] = useState<Question>({
    Resource: 'service',
    Access: 'write',
    Segment: 'web',
  });
  const [explained, setExplained] = useState<Explained>();
  const [problem, setProblem] = useState<Problem>();
  const ask = async (): Promise<void> => {
    try {
      const body = { Draft: { Rules: rules }, Requests: [asked] };
      setExplained(await question<Explained>('/v1/acl/authorize/explain', body));
      setProblem(undefined);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <section class="panel" aria-labelledby="try">
      <h2 id="try">{TEXT.explain.tryIt}</h2>
      <p class="help">{TEXT.explain.tryAbout}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <QuestionFields question={asked} onChange={setAsked} />
        <button type="submit">{TEXT.explain.ask}</button>
      </form>
      <ProblemNotice problem={problem} />
      <Status>
        {explained?.Results.map((result) => (
          <ResultView key={result.Text} result={result} />
        ))}
      </Status>
    </section>
  );
}
