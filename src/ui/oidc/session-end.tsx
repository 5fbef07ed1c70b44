/** What every page says shortly before the session ends. */
import { useAttempt } from '../parts/form.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { endSession, session } from '../session.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';
import { minutesLeft, stayLoggedIn } from './renewal.js';

/** Says when the session ends, and lets the user stay, or log in again. */
export function SessionEnd() {
  const minutes = useStore(minutesLeft);
  const { login } = useStore(session);
  const { problem, isBusy, attempt } = useAttempt();
  const isNear = minutes !== undefined;
  return (
    <div class={isNear ? 'notice warn' : undefined}>
      <Status>
        {isNear && (
          <>
            <p>{TEXT.oidc.ends(minutes)}</p>
            {login === undefined ? (
              <button type="button" onClick={() => endSession(TEXT.oidc.again)}>
                {TEXT.oidc.logInAgain}
              </button>
            ) : (
              <button type="button" disabled={isBusy} onClick={() => void attempt(stayLoggedIn)}>
                {TEXT.oidc.stay}
              </button>
            )}
          </>
        )}
      </Status>
      {isNear && <ProblemNotice problem={problem} />}
    </div>
  );
}
