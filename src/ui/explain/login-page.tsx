/** The login playground: what would a login with these claims come to? Nothing is written. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LoginExplained } from '../../api/endpoints/login-explain.js';
import { question } from '../api/client.js';
import { asProblem, Problem } from '../api/problem.js';
import { CodeField } from '../parts/code-field.js';
import { AreaField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { ListPicker } from '../parts/list-picker.js';
import { ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { keep, kept } from '../session.js';
import { TEXT } from '../texts.js';
import { LoginView } from './login-view.js';

const DRAFT = 'login-explain';
const EXAMPLE = '{\n  "name": "web",\n  "team": "blue"\n}';

interface Typed {
  readonly method: string;
  readonly claims: string;
}

/** Method and claims on one side, what they come to on the other. */
export function LoginExplainPage() {
  const [login, setLogin] = useState<LoginExplained>();
  const [problem, setProblem] = useState<Problem>();
  const asking = useRef<AbortController>(undefined);
  useEffect(() => () => asking.current?.abort(), []);
  const ask = async (typed: Typed, bearer: string): Promise<void> => {
    asking.current?.abort();
    asking.current = new AbortController();
    const { signal } = asking.current;
    setProblem(undefined);
    try {
      const how = bearer === '' ? { Claims: claimsOf(typed) } : { BearerToken: bearer };
      const body = { AuthMethod: typed.method.trim(), ...how };
      setLogin(await question<LoginExplained>('/v1/acl/login/explain', body, { signal }));
    } catch (error) {
      if (signal.aborted) return;
      setLogin(undefined);
      setProblem(asProblem(error));
    }
  };
  return (
    <Page title={TEXT.page.loginExplain} about={TEXT.login.about}>
      <div class="sides">
        <LoginForm onAsk={(typed, bearer) => void ask(typed, bearer)} />
        <section aria-label={TEXT.login.result}>
          <ProblemNotice problem={problem} />
          <Status>{login !== undefined && <LoginView login={login} />}</Status>
        </section>
      </div>
    </Page>
  );
}

/** Method and claims are kept in the tab, the bearer token is not. */
function LoginForm({ onAsk }: { onAsk: (typed: Typed, bearer: string) => void }) {
  const [typed, setTyped] = useState<Typed>(
    () => kept<Typed>(DRAFT) ?? { method: '', claims: EXAMPLE },
  );
  const [bearer, setBearer] = useState('');
  const change = (next: Typed): void => {
    setTyped(next);
    keep(DRAFT, next);
  };
  return (
    <Form class="panel" onSubmit={() => onAsk(typed, bearer.trim())}>
      <ListPicker
        label={TEXT.field.method}
        list="/v1/acl/auth-methods"
        value={typed.method}
        onInput={(method) => change({ ...typed, method })}
      />
      <AreaField
        label={TEXT.field.bearer}
        help={TEXT.help.bearer}
        value={bearer}
        onInput={setBearer}
      />
      <CodeField
        label={TEXT.field.claims}
        help={TEXT.help.claims}
        language="json"
        value={typed.claims}
        onInput={(claims) => change({ ...typed, claims })}
      />
      <button type="submit" class="main">
        {TEXT.explain.ask}
      </button>
    </Form>
  );
}

/** Reads the claims. Throws `Problem`. */
function claimsOf({ claims }: Typed): unknown {
  try {
    return JSON.parse(claims);
  } catch (error) {
    throw new Problem(400, { detail: TEXT.form.noJson((error as Error).message), code: 'invalid' });
  }
}
