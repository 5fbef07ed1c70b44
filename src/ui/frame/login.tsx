/** The login: by a token, which the server checks, or by a JWT, for which it makes one. */
import { useEffect, useState } from 'preact/hooks';
import { read, SELF } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import logo from '../logo.svg';
import { beginLogin, completeLogin } from '../oidc-session.js';
import { TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { useLoad } from '../parts/load.js';
import { Trouble } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Tabs } from '../parts/tabs.js';
import { go, namespace } from '../router.js';
import { endSession, openSession, session } from '../session.js';
import { useStore } from '../store.js';
import { TEXT } from '../texts.js';

/** Asks who the user is. The address stays, so that the user comes back to where they were. */
export function LoginPage() {
  const { ended } = useStore(session);
  const [way, setWay] = useState(0);
  const tabs = [
    { name: TEXT.login.byToken, panel: () => <TokenForm /> },
    { name: TEXT.login.byJwt, panel: () => <JwtForm /> },
  ];
  return (
    <main id="content" class="login">
      <img src={logo} alt="" width="56" height="56" />
      <Page title={TEXT.login.title} about={TEXT.login.welcome}>
        {ended !== undefined && (
          <p role="alert" class="notice bad">
            {ended}
          </p>
        )}
        <Trouble />
        <Providers />
        <Tabs label={TEXT.login.methods} tabs={tabs} chosen={way} onChoose={setWay} />
      </Page>
    </main>
  );
}

/** The auth methods of the namespace by which the user can log in at a provider. */
function Providers() {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const { value: methods = [] } = useLoad(
    (signal) => read<readonly Provider[]>(PROVIDERS, { signal, once: true }),
    [namespace()],
  );
  const begin = async ({ Name, Namespace }: Provider): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await beginLogin(Name, Namespace);
    } catch (problem) {
      setError(asProblem(problem).message);
      setBusy(false);
    }
  };
  if (methods.length === 0) return null;
  return (
    <div class="panel providers">
      {methods.map((method) => (
        <button
          key={method.Name}
          type="button"
          class="main"
          disabled={isBusy}
          onClick={() => begin(method)}
        >
          {TEXT.login.continueWith(method.DisplayName || method.Name)}
        </button>
      ))}
      {error !== undefined && (
        <p role="alert" class="notice bad">
          {error}
        </p>
      )}
    </div>
  );
}

const PROVIDERS = '/v1/internal/ui/oidc-auth-methods';

interface Provider {
  readonly Name: string;
  readonly DisplayName: string;
  readonly Namespace: string;
}

/** The page to which a provider sends the browser back. */
export function CallbackPage() {
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    void completeLogin().then((completed) => {
      if ('back' in completed) go(completed.back, { replace: true });
      else if ('isDone' in completed) setDone(true);
      else {
        endSession(completed.problem);
        go('/ui/', { replace: true });
      }
    });
  }, []);
  return (
    <main id="content" class="login">
      <Page title={isDone ? TEXT.login.closeWindow : TEXT.login.completing}>{null}</Page>
    </main>
  );
}

/** What a form of the login does: checks, sends, and says what is wrong. */
function useLogin(): {
  readonly error: string | undefined;
  readonly isBusy: boolean;
  /** Logs in with the token that `logIn` returns, unless something is `wrong` already. */
  run(
    wrong: string | undefined,
    logIn: () => Promise<string>,
    messageOf?: (problem: Problem) => string,
  ): Promise<void>;
} {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  return {
    error,
    isBusy,
    async run(wrong, logIn, messageOf = ({ message }) => message) {
      setError(wrong);
      if (wrong !== undefined) return;
      setBusy(true);
      try {
        openSession(await logIn());
      } catch (problem) {
        setError(messageOf(asProblem(problem)));
        setBusy(false);
      }
    },
  };
}

function TokenForm() {
  const [token, setToken] = useState('');
  const { error, isBusy, run } = useLogin();
  const logIn = (): void => {
    const secret = token.trim();
    // No header can hold anything else.
    const isToken = /^[!-~]+$/.test(secret);
    const wrong = secret === '' ? TEXT.login.empty : isToken ? undefined : TEXT.login.unknown;
    const check = async (): Promise<string> => {
      await read(SELF, { token: secret });
      return secret;
    };
    void run(wrong, check, ({ status, message }) =>
      status === 403 ? TEXT.login.unknown : message,
    );
  };
  return (
    <Form class="panel" onSubmit={logIn}>
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
      <p class="help">{TEXT.login.origin}</p>
    </Form>
  );
}

function JwtForm() {
  const [form, setForm] = useState({ method: '', ns: '', jwt: '' });
  const { error, isBusy, run } = useLogin();
  const set = (key: keyof typeof form) => (value: string) => setForm({ ...form, [key]: value });
  const logIn = (): void => {
    const body = { AuthMethod: form.method.trim(), BearerToken: form.jwt.trim() };
    const lacking = body.AuthMethod === '' ? TEXT.login.needsMethod : undefined;
    const wrong = lacking ?? (body.BearerToken === '' ? TEXT.login.needsJwt : undefined);
    const make = async (): Promise<string> => {
      const how = { method: 'POST', body, ns: form.ns.trim() } as const;
      return (await read<{ readonly SecretID: string }>('/v1/acl/login', how)).SecretID;
    };
    void run(wrong, make);
  };
  const isAboutJwt = error !== undefined && error !== TEXT.login.needsMethod;
  return (
    <Form class="panel" onSubmit={logIn}>
      <TextField
        label={TEXT.field.method}
        error={isAboutJwt ? undefined : error}
        value={form.method}
        onInput={set('method')}
      />
      <TextField
        label={TEXT.shell.namespace}
        help={TEXT.login.namespaceHelp}
        value={form.ns}
        onInput={set('ns')}
      />
      <TextField
        label={TEXT.field.bearer}
        help={TEXT.login.jwtAbout}
        isSecret
        error={isAboutJwt ? error : undefined}
        value={form.jwt}
        onInput={set('jwt')}
      />
      <div class="buttons">
        <button type="submit" class="main" disabled={isBusy}>
          {TEXT.login.logIn}
        </button>
      </div>
    </Form>
  );
}
