/** What a login comes to: checks, values, rules with their clauses, the token and its rights. */

import type { Clause, JudgedRule, LoginExplained } from '../../api/endpoints/login-explain.js';
import { Link } from '../parts/link.js';
import { Scroll, Term } from '../parts/table.js';
import { TEXT } from '../texts.js';
import { Verdict } from './result.js';
import { RightsTable } from './rights-table.js';

/** The whole answer. */
export function LoginView({ login }: { login: LoginExplained }) {
  const { Outcome, Reason, Verified, Checks, Rules, MoreRules, Token, Rights } = login;
  return (
    <>
      <p>
        <Verdict isAllowed={Outcome === 'granted'} /> {Reason || TEXT.login.granted}{' '}
        {!Verified && <span class="quiet">{TEXT.login.unverified}</span>}
      </p>
      <h3>{TEXT.login.checks}</h3>
      <ul>
        {Checks.map(({ Name, Result, Detail }) => (
          <li key={Name} class={Result}>
            {Name}: {Result} {Detail !== '' && <span class="quiet">{Detail}</span>}
          </li>
        ))}
      </ul>
      <Values login={login} />
      <h3>{TEXT.login.rules}</h3>
      {Rules.length === 0 && <p>{TEXT.login.noRules}</p>}
      <ul class="rules">
        {Rules.map((rule) => (
          <Rule key={rule.ID} rule={rule} />
        ))}
        {MoreRules > 0 && <li>{TEXT.explain.more(MoreRules)}</li>}
      </ul>
      {Token !== null && (
        <details>
          <summary>{TEXT.login.token}</summary>
          <Scroll label={TEXT.login.token} kind="command">
            <pre>{JSON.stringify(Token, null, 2)}</pre>
          </Scroll>
        </details>
      )}
      {Rights !== null && Rights.length > 0 && <RightsTable rights={Rights} />}
    </>
  );
}

function Values({
  login: { Values: values, Lists, Missing, Unmapped },
}: {
  login: LoginExplained;
}) {
  const lists = Object.entries(Lists).map(([name, all]) => [name, all.join(', ')] as const);
  const missing = [...Missing.Values, ...Missing.Lists];
  return (
    <>
      <h3>{TEXT.login.values}</h3>
      <dl>
        {[...Object.entries(values), ...lists].map(([name, value]) => (
          <Term key={name} name={name}>
            {value}
          </Term>
        ))}
        {missing.length > 0 && <Term name={TEXT.login.missing}>{missing.join(', ')}</Term>}
        {Unmapped.length > 0 && <Term name={TEXT.login.unmapped}>{Unmapped.join(', ')}</Term>}
      </dl>
    </>
  );
}

function Rule({ rule }: { rule: JudgedRule }) {
  const { ID, Matches, BindType, BindName, Name, Effect, Problem } = rule;
  return (
    <li>
      <strong>{Matches ? TEXT.login.matches : TEXT.login.noMatch}</strong>{' '}
      <Link to={['binding-rules', ID]}>
        {BindType} {Name ?? BindName}
      </Link>
      : {TEXT.login.effects[Effect] ?? Effect}
      {Problem !== '' && <p class="error">{Problem}</p>}
      {rule.Clause !== null && (
        <ul>
          <ClauseView clause={rule.Clause} />
        </ul>
      )}
    </li>
  );
}

function ClauseView({ clause }: { clause: Clause }) {
  const { Text, Result, Actual, Missing = false, Terms = [] } = clause;
  return (
    <li>
      <code>{Text}</code>: {String(Result)}
      {Missing && ` (${TEXT.login.absent})`}
      {Actual !== undefined && Actual !== null && ` (${JSON.stringify(Actual)})`}
      {Terms.length > 0 && (
        <ul>
          {Terms.map((term) => (
            <ClauseView key={term.Text} clause={term} />
          ))}
        </ul>
      )}
    </li>
  );
}
