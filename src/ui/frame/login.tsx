/**
 * The login: at an OpenID provider, by a token, which the server checks, or by a JWT, for which it
 * makes one.
 */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { read, SELF } from '../api/client.js';
import { asProblem, type Problem } from '../api/problem.js';
import type { Stored } from '../api/types.js';
import logo from '../logo.svg';
import { type BrowserMethod, leaveToLogIn, refusalOf } from '../oidc/login.js';
import { TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { useLoad } from '../parts/load.js';
import { Status, Trouble } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Tabs } from '../parts/tabs.js';
import { namespace } from '../router.js';
import { endSession, openSession, type Session, session } from '../session.js';
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
    <Entrance>
      {ended !== undefined && (
        <p role="alert" class="notice bad">
          {ended}
        </p>
      )}
      <Trouble />
      <MethodButtons />
      <Tabs label={TEXT.login.methods} tabs={tabs} chosen={way} onChoose={setWay} />
    </Entrance>
  );
}

/** What the login looks like while it is completed. */
export const Completing = ({ children }: { children: ComponentChildren }) => (
  <Entrance>
    <Trouble />
    <Status>{children}</Status>
  </Entrance>
);

const Entrance = ({ children }: { children: ComponentChildren }) => (
  <main id="content" class="login">
    <img src={logo} alt="" width="56" height="56" />
    <Page title={TEXT.login.title} about={TEXT.login.welcome}>
      {children}
    </Page>
  </main>
);

/** A button for each auth method of type oidc, of the namespace of the address and of `default`. */
function MethodButtons() {
  const ns = namespace();
  const { value: methods = [] } = useLoad(
    async (signal) => {
      const all = [...new Set(['default', ns || 'default'])].map((each) => {
        const how = { signal, ns: each, once: true, isQuiet: true };
        const path = '/v1/internal/ui/oidc-auth-methods';
        return read<readonly BrowserMethod[]>(path, how).catch(() => []);
      });
      return (await Promise.all(all)).flat();
    },
    [ns],
  );
  const [isBusy, setBusy] = useState(false);
  const leave = async (method: BrowserMethod): Promise<void> => {
    endSession();
    setBusy(true);
    try {
      await leaveToLogIn(method);
    } catch (problem) {
      endSession(refusalOf(asProblem(problem)));
    }
    setBusy(false);
  };
  if (methods.length === 0) return null;
  const labels = methods.map(({ DisplayName, Name }) => DisplayName || Name);
  return (
    <div class="ways">
      {methods.map((method, nth) => {
        const { Name, Namespace } = method;
        const label = labels[nth]!;
        const isUnique = labels.indexOf(label) === labels.lastIndexOf(label);
        return (
          <button
            key={`${Namespace}/${Name}`}
            type="button"
            class="main"
            disabled={isBusy}
            onClick={() => void leave(method)}
          >
            {TEXT.oidc.continueWith(isUnique ? label : `${label} (${Namespace}/${Name})`)}
          </button>
        );
      })}
    </div>
  );
}

/** A token, and whether a login made it. */
type Made = Required<Pick<Session, 'token' | 'isOfLogin'>>;

/** What a form of the login does: checks, sends, and says what is wrong. */
function useLogin(): {
  readonly error: string | undefined;
  readonly isBusy: boolean;
  /** Logs in with the token that `logIn` returns, unless something is `wrong` already. */
  run(
    wrong: string | undefined,
    logIn: () => Promise<Made>,
    messageOf?: (problem: Problem) => string,
  ): Promise<void>;
} {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  return {
    error,
    isBusy,
    async run(wrong, logIn, messageOf = refusalOf) {
      setError(wrong);
      if (wrong !== undefined) return;
      setBusy(true);
      try {
        const { token: made, isOfLogin } = await logIn();
        openSession(made, { isOfLogin });
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
    const check = async (): Promise<Made> => {
      const { AuthMethod } = await read<Stored>(SELF, { token: secret });
      return { token: secret, isOfLogin: AuthMethod !== undefined };
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
    const make = async (): Promise<Made> => {
      const how = { method: 'POST', body, ns: form.ns.trim() } as const;
      const made = await read<{ readonly SecretID: string }>('/v1/acl/login', how);
      return { token: made.SecretID, isOfLogin: true };
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
