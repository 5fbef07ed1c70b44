/** A JWT against an auth method that is stored. */
import { useState } from 'preact/hooks';
import type { LoginExplained } from '../../api/endpoints/login-explain.js';
import { question } from '../api/client.js';
import { LoginView } from '../explain/login-view.js';
import { AreaField } from '../parts/field.js';
import { Form, useAttempt } from '../parts/form.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { TEXT } from '../texts.js';

/** What a login with a JWT would do. The JWT stays in this component. */
export function TryJwt({ method }: { method: string }) {
  const [bearer, setBearer] = useState('');
  const [login, setLogin] = useState<LoginExplained>();
  const { problem, isBusy, attempt } = useAttempt();
  const ask = async (): Promise<void> => {
    setLogin(undefined);
    const body = { AuthMethod: method, BearerToken: bearer.trim() };
    setLogin(await question<LoginExplained>('/v1/acl/login/explain', body));
  };
  return (
    <Panel title={TEXT.layout.tryJwt}>
      <p class="help">{TEXT.layout.tryAbout}</p>
      <Form onSubmit={() => void attempt(ask)}>
        <AreaField label={TEXT.field.bearer} value={bearer} onInput={setBearer} />
        <button type="submit" disabled={isBusy || bearer.trim() === ''}>
          {TEXT.explain.ask}
        </button>
      </Form>
      <ProblemNotice problem={problem} />
      <Status>{login !== undefined && <LoginView login={login} />}</Status>
    </Panel>
  );
}
