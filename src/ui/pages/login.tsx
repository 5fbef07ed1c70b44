/** The login: the token of a user, checked with the server. */
import { useState } from 'preact/hooks';
import { read, SELF } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import { TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { Trouble } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { openSession, session } from '../session.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

/** What is wrong with a token that was refused. */
const messageOf = ({ status, message }: Problem): string =>
  status === 403 ? TEXT.login.unknown : message;

/** Asks for a token. The address stays, so that the user comes back to where they were. */
export function LoginPage() {
  const { ended } = useStore(session);
  const [token, setToken] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const logIn = async (): Promise<void> => {
    const secret = token.trim();
    if (secret === '') return setError(TEXT.login.empty);
    // No header can hold anything else.
    if (!/^[!-~]+$/.test(secret)) return setError(TEXT.login.unknown);
    setBusy(true);
    setError(undefined);
    try {
      await read(SELF, { token: secret });
      openSession(secret);
    } catch (problem) {
      setError(messageOf(asProblem(problem)));
      setBusy(false);
    }
  };
  return (
    <main id="content" class="login">
      <Page title={TEXT.login.title} about={TEXT.login.welcome}>
        {ended !== undefined && (
          <p role="alert" class="notice bad">
            {ended}
          </p>
        )}
        <Trouble />
        <Form class="panel" onSubmit={() => void logIn()}>
          <TextField
            label={TEXT.field.token}
            help={TEXT.help.token}
            isSecret
            error={error}
            value={token}
            onInput={setToken}
          />
          <div class="buttons">
            <button type="submit" class="main" disabled={isBusy}>
              {TEXT.login.logIn}
            </button>
            <button type="button" onClick={() => openSession(undefined)}>
              {TEXT.login.anonymous}
            </button>
          </div>
        </Form>
      </Page>
    </main>
  );
}
