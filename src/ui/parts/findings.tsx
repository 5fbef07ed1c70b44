/** What lint finds in a text, while it is typed. */
import { useState } from 'preact/hooks';
import { question } from '../api/client.js';
import type { Finding, Linted } from '../api/types.js';
import { TEXT } from '../texts.js';
import { useLoad, useSettled } from './load.js';

/** Milliseconds after the last key. */
const TYPING_MS = 700;

/** Asks lint for the findings in a body, if there is one, once it has not changed for a while. */
export function useLint(path: string | undefined, body: object | undefined): readonly Finding[] {
  const settled = useSettled(body && JSON.stringify(body), TYPING_MS);
  const [last, setLast] = useState<readonly Finding[]>([]);
  useLoad(
    async (signal) => {
      if (path === undefined || settled === undefined) return;
      const { Problems } = await question<Linted>(path, JSON.parse(settled), { signal });
      setLast(Problems);
    },
    [path, settled],
  );
  return last;
}

const placeOf = ({ Field, Line }: Finding): string =>
  [Field, Line === undefined ? undefined : TEXT.lint.line(Line)].filter(Boolean).join(' ');

/** The findings. Each is a button that leads to its place. */
export function Findings({
  findings,
  onChoose,
}: {
  findings: readonly Finding[];
  onChoose: (finding: Finding) => void;
}) {
  return (
    <div class="findings">
      <p role="status" class="quiet">
        {TEXT.lint.count(findings.length)}
      </p>
      {findings.length > 0 && (
        <ul aria-label={TEXT.lint.title}>
          {findings.map((finding) => (
            <li
              key={`${finding.Code} ${finding.Field} ${finding.Line} ${finding.Column}`}
              class={finding.Severity}
            >
              <button type="button" onClick={() => onChoose(finding)}>
                <span class="severity">{finding.Severity}</span> <code>{finding.Code}</code>{' '}
                {placeOf(finding)}: <span class="message">{finding.Message}</span>
              </button>
              {finding.Hint !== undefined && <p class="help">{finding.Hint}</p>}
              {finding.Fix !== undefined && (
                <p class="help">
                  {TEXT.lint.fix} <code>{finding.Fix}</code>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
