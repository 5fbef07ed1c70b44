/** The answer to a question about rights: the sentence, and where it comes from. */
import { OBJECTS, type ObjectName } from '../../api/objects.js';
import type { Result, Source, SpeakingRule, Step } from '../api/types.js';
import { pageOf } from '../objects/linking.js';
import { Link } from '../parts/link.js';
import { TEXT } from '../texts.js';

function StepName({ step, line }: { step: Step; line: number | null }) {
  const { Type, ID, Name, Version } = step;
  const query = Type === 'policy' && line !== null ? { line: String(line) } : {};
  const slug = Object.hasOwn(OBJECTS, Type) ? pageOf(Type as ObjectName).slug : undefined;
  const name = Name === '' ? (ID ?? '') : Name;
  return (
    <>
      {Type}{' '}
      {slug === undefined || ID === undefined ? (
        name
      ) : (
        <Link to={[slug, ID]} query={query}>
          {name}
        </Link>
      )}
      {Version !== undefined && ID !== undefined && (
        <Link to={['history', Type, ID]}>{TEXT.moment.version(Version)}</Link>
      )}
    </>
  );
}

/** The way from a token to the line of a text, which is marked where it decides. */
export function Way({ source, isMarked = false }: { source: Source; isMarked?: boolean }) {
  const { Path, Line, Level, Counts } = source;
  return (
    <span class="way">
      {Path.map((step, at) => (
        <span key={`${step.Type} ${step.ID ?? step.Name}`}>
          {at > 0 && <span aria-hidden="true"> › </span>}
          <StepName step={step} line={Line} />
        </span>
      ))}
      {Line !== null && (
        <span>
          , {isMarked && Counts ? <mark>{TEXT.lint.line(Line)}</mark> : TEXT.lint.line(Line)}
        </span>
      )}
      <span>
        {' '}
        ({Level}
        {!Counts && `, ${TEXT.explain.merged}`})
      </span>
    </span>
  );
}

function Speaking({ rule }: { rule: SpeakingRule }) {
  return (
    <>
      <code>{rule.Rule}</code>
      {rule.Why !== undefined && (
        <span class="quiet"> {TEXT.explain.whys[rule.Why] ?? rule.Why}</span>
      )}
      <ul>
        {rule.Sources.map((source) => (
          <li key={source.Path.map(({ ID, Name }) => ID ?? Name).join('/') + source.Line}>
            <Way source={source} isMarked={rule.Why === undefined} />
          </li>
        ))}
        {(rule.MoreSources ?? 0) > 0 && <li>{TEXT.explain.more(rule.MoreSources!)}</li>}
      </ul>
    </>
  );
}

/** Yes or no, in words and not by colour alone. */
export const Verdict = ({ isAllowed }: { isAllowed: boolean }) => (
  <strong class={isAllowed ? 'verdict good' : 'verdict bad'}>
    {isAllowed ? TEXT.explain.allowed : TEXT.explain.refused}
  </strong>
);

/** One answer with the rule that decides, and those that do not. */
export const ResultView = ({ result }: { result: Result }) => (
  <div class="result">
    <p>
      <Verdict isAllowed={result.Allow} /> {result.Text}
    </p>
    <RulesView result={result} />
  </div>
);

/** The rule that decides, and those that do not. */
export function RulesView({ result }: { result: Result }) {
  const { Winner, Candidates, MoreCandidates = 0 } = result;
  return (
    <>
      {Winner !== null && (
        <>
          <h3>{TEXT.explain.winner}</h3>
          <Speaking rule={Winner} />
        </>
      )}
      {Candidates.length > 0 && (
        <>
          <h3>{TEXT.explain.others}</h3>
          <ul>
            {Candidates.map((rule) => (
              <li key={`${rule.Rule} ${rule.Why}`}>
                <Speaking rule={rule} />
              </li>
            ))}
            {MoreCandidates > 0 && <li>{TEXT.explain.more(MoreCandidates)}</li>}
          </ul>
        </>
      )}
    </>
  );
}
