/** What every page says shortly before the session of an OIDC login ends. */
import { useAttempt } from '../parts/form.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';
import { minutesLeft, stayLoggedIn } from './renewal.js';

/** Says when the session ends, and lets the user stay. */
export function SessionEnd() {
  const minutes = useStore(minutesLeft);
  const { problem, isBusy, attempt } = useAttempt();
  const isNear = minutes !== undefined;
  return (
    <div class={isNear ? 'notice warn' : undefined}>
      <Status>
        {isNear && (
          <>
            <p>{TEXT.oidc.ends(minutes)}</p>
            <button type="button" disabled={isBusy} onClick={() => void attempt(stayLoggedIn)}>
              {TEXT.oidc.stay}
            </button>
          </>
        )}
      </Status>
      {isNear && <ProblemNotice problem={problem} />}
    </div>
  );
}
