/** What went wrong, and what to do. */
import type { ComponentChildren } from 'preact';
import { slowRequests, trouble } from '../api/client.js';
import type { Problem } from '../api/problem.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';
import { Link } from './link.js';
import type { Need } from './rights.js';

/** An error. One for want of a right leads to its explanation. */
export function ProblemNotice({
  problem,
  children,
}: {
  problem: Problem | undefined;
  children?: ComponentChildren;
}) {
  if (problem === undefined) return null;
  const isRefused = problem.status === 403;
  return (
    <div class="notice bad" role="alert">
      <p>
        {isRefused && <strong>{TEXT.problem.notAllowed} </strong>}
        {problem.message}
        {problem.hint !== undefined && <span class="hint"> ({problem.hint})</span>}
      </p>
      {problem.decision !== undefined && (
        <p>
          <Link to={['explain']} query={{ decision: problem.decision }}>
            {TEXT.problem.why}
          </Link>
        </p>
      )}
      {children}
    </div>
  );
}

/** That the user lacks a right to change what the page shows, which leads to the reason. */
export function ReadOnly({ right, on = '', ns }: Need) {
  const [resource, access] = right.split(':');
  const needed = on === '' ? right : `${right} on ${JSON.stringify(on)}`;
  return (
    <Status>
      {TEXT.form.readOnlyAbout(needed)}{' '}
      <Link to={['explain']} query={{ resource, access, segment: on || undefined, ns }}>
        {TEXT.problem.why}
      </Link>
    </Status>
  );
}

/** A message that is read out when it appears. */
export function Status({ children }: { children?: ComponentChildren }) {
  return (
    <div role="status" class="status">
      {children}
    </div>
  );
}

/** What keeps requests waiting, such as a missing leader. */
export function Trouble() {
  const problem = useStore(trouble);
  const slow = useStore(slowRequests);
  const waiting = problem ?? (slow > 0 ? TEXT.trouble.slow : undefined);
  return (
    <div class={waiting === undefined ? undefined : 'notice warn'}>
      <Status>{waiting}</Status>
    </div>
  );
}

/** What a page says that has nothing to show yet. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
