/** What a plan would do: its changes, what is wrong with them, and what they do to tokens. */
import { OBJECTS } from '../../api/objects.js';
import type { Change, DiffItem, Plan } from '../api/sets.js';
import { Diff } from '../parts/diff.js';
import { TEXT } from '../texts.js';
import { Impact } from './impact.js';

/** Changes that are shown; a set may have thousands. */
const SHOWN = 100;
/** Changes up to which all are shown open. */
const OPEN = 5;

/** Returns a text of which a plan has only the beginning, before and after, by its pointer. */
export type WholeText = (path: string) => readonly [before: string, after: string] | undefined;

/** The whole plan. With `whole` it is that of one object, whose page says which. */
export function PlanView({ plan, whole }: { plan: Plan; whole?: WholeText }) {
  const { Changes, Problems, Parts, Asserts, Impact: impact } = plan;
  const changed = Changes.filter(({ Action }) => Action !== 'unchanged');
  return (
    <>
      {Problems.length > 0 && (
        <div class="notice bad" role="alert">
          <p>{TEXT.plan.problems}</p>
          <ul>
            {Problems.map(({ Ref, Code, Message }) => (
              <li key={`${Ref} ${Code} ${Message}`}>
                {Ref !== '' && <code>{Ref}</code>} {Message}
              </li>
            ))}
          </ul>
        </div>
      )}
      {Parts.length > 0 && <p class="notice warn">{TEXT.plan.parts(Parts.length)}</p>}
      {changed.length === 0 && <p>{TEXT.review.nothing}</p>}
      {changed.length === 1 && whole !== undefined ? (
        <ChangeView change={changed[0]!} whole={whole} />
      ) : (
        <ChangeList all={Changes} changed={changed} />
      )}
      {Asserts.length > 0 && (
        <>
          <h3>{TEXT.plan.asserts}</h3>
          <ul>
            {Asserts.map(({ Name, Passed, Problem, Result }) => (
              <li key={Name}>
                <strong class={Passed ? 'verdict good' : 'verdict bad'}>
                  {Passed ? TEXT.plan.passed : TEXT.plan.failed}
                </strong>{' '}
                {Name}: {Problem ?? Result?.Text}
              </li>
            ))}
          </ul>
        </>
      )}
      {changed.length > 0 && <Impact of={impact.Tokens} />}
    </>
  );
}

function ChangeList({ all, changed }: { all: readonly Change[]; changed: readonly Change[] }) {
  const counts = Object.entries(TEXT.plan.actions)
    .map(([action, word]) => [word, all.filter(({ Action }) => Action === action).length] as const)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${word} ${count.toLocaleString('en')}`);
  const hidden = changed.length - SHOWN;
  return (
    <>
      <p>{TEXT.plan.summary(counts)}</p>
      {changed.slice(0, SHOWN).map((change) => (
        <details key={change.Ref} open={changed.length <= OPEN}>
          <summary>
            <strong>{TEXT.plan.actions[change.Action]}</strong> <code>{change.Ref}</code>
          </summary>
          <ChangeView change={change} />
        </details>
      ))}
      {hidden > 0 && <p>{TEXT.plan.more(hidden)}</p>}
    </>
  );
}

function ChangeView({ change, whole }: { change: Change; whole?: WholeText }) {
  const { Allowed, Warnings = [], Diff: items = [] } = change;
  return (
    <>
      {!Allowed && <p class="notice warn">{TEXT.plan.notAllowed}</p>}
      <DiffItems items={items} type={change.Type} {...(whole && { whole })} />
      {Warnings.length > 0 && (
        <>
          <h3>{TEXT.plan.warnings}</h3>
          <ul>
            {Warnings.map(({ Severity = 'warning', Code, Message, Line }) => (
              <li key={`${Code} ${Line} ${Message}`} class={Severity}>
                <strong>
                  {Severity} {Code}
                </strong>
                {Line !== undefined && ` ${TEXT.lint.line(Line)}`}: {Message}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Differences by field. Texts differ by line, and so does all else as JSON. */
export function DiffItems({
  items,
  type,
  whole,
}: {
  items: readonly DiffItem[];
  type: string;
  whole?: WholeText;
}) {
  return items.map(({ Path, Old, New, Cut = false }) => {
    const [before, after] = (Cut && whole?.(Path)) || [textOf(Old), textOf(New)];
    return (
      <section key={Path}>
        <h3>{labelOf(type, Path)}</h3>
        <Diff before={before} after={after} />
        {Cut && whole?.(Path) === undefined && <p class="quiet">{TEXT.plan.cut}</p>}
      </section>
    );
  });
}

const textOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** Returns a pointer in words: `Policies › ops`. */
function labelOf(type: string, path: string): string {
  const [, first = '', ...rest] = path
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { members = {} } = Object.values(OBJECTS).find(({ slug }) => slug === type) ?? {};
  return [members[first]?.label ?? first, ...rest].join(' › ');
}
