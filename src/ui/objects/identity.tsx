/** Who is behind a token of a login: everything of that identity revoked, and its blocks. */
import { useState } from 'preact/hooks';
import type { BlockRow, Revoked } from '../../api/endpoints/identities.js';
import { type Ask, ask, read } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { Who } from '../history/made.js';
import { BLOCK_FOR } from '../identity-texts.js';
import { SelectField } from '../parts/field.js';
import { useAttempt } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { ProblemNotice } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { useMay } from '../parts/rights.js';
import { Table, Term } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { ReviewDialog } from '../plan/review.js';
import { go, hrefOf, namespace, visited } from '../router.js';
import { TEXT } from '../texts.js';
import { leaveNote } from './note.js';

/** Who is behind a token of a login. */
export interface Identity {
  readonly AuthMethod: string;
  readonly Namespace: string;
  readonly Subject: string;
}

/** Reads who is behind a token; undefined until it is known, and if no login made it. */
export function useIdentity(token: Stored): Identity | undefined {
  const accessor = String(token['AccessorID']);
  const { value } = useLoad(
    async (signal) => {
      if (token['AuthMethod'] === undefined) return undefined;
      const query = { expanded: 'true' };
      const found = await read<{ Identity?: Identity }>(`/v1/acl/token/${accessor}`, {
        signal,
        query,
      });
      return found.Identity;
    },
    [accessor],
  );
  return value;
}

/** The identity of a token as a line of a list of terms. `leads`: to all its tokens. */
export function IdentityTerm({ of, leads = false }: { of: Identity | undefined; leads?: boolean }) {
  if (!of?.Subject) return null;
  // the list looks for the auth method in the namespace that it shows
  const isHere = of.Namespace === (namespace() || 'default');
  return (
    <Term name={TEXT.identity.subject}>
      {leads && isHere ? (
        <Link to={['tokens']} query={{ subject: `${of.AuthMethod}/${of.Subject}` }}>
          {of.Subject}
        </Link>
      ) : (
        of.Subject
      )}
    </Term>
  );
}

/** The button that revokes an identity. */
export function RevokeIdentity({ of }: { of: Identity | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('acl:write');
  if (!of?.Subject) return null;
  return (
    <>
      <button type="button" class="danger" disabled={may === false} onClick={() => setOpen(true)}>
        {TEXT.identity.revoke}
      </button>
      {isOpen && <RevokeDialog of={of} onBack={() => setOpen(false)} />}
    </>
  );
}

function RevokeDialog({ of, onBack }: { of: Identity; onBack: () => void }) {
  const [blockFor, setBlockFor] = useState<string>(BLOCK_FOR[0]);
  const { problem: refused, isBusy, attempt, stop } = useAttempt(onBack);
  const body = { AuthMethod: of.AuthMethod, Namespace: of.Namespace, Subject: of.Subject };
  const send = (more: object, how: Ask) =>
    ask<Revoked>('/v1/acl/tokens/revoke', { method: 'POST', body: { ...body, ...more }, ...how });
  const { value, problem, isLoading } = useLoad(
    (signal) => send({ DryRun: true }, { signal, isRead: true }),
    [],
  );
  const revoke = async (Reason: string, signal: AbortSignal): Promise<void> => {
    const isHere = visited();
    const BlockFor = blockFor === BLOCK_FOR[0] ? undefined : blockFor;
    const done = await send({ DryRun: false, BlockFor, ...(Reason && { Reason }) }, { signal });
    if (!isHere()) return;
    leaveNote(TEXT.identity.done(done.value.Total));
    go(hrefOf(['tokens']));
  };
  const { Total = 0, Unknown = 0 } = value?.value ?? {};
  return (
    <ReviewDialog
      isReady={!isLoading}
      isBusy={isBusy}
      onApply={value && ((reason) => void attempt((signal) => revoke(reason, signal)))}
      onBack={isBusy ? stop : onBack}
    >
      <ProblemNotice problem={problem ?? refused} />
      <dl>
        <Term name={TEXT.identity.whom}>
          {of.Subject} ({of.AuthMethod})
        </Term>
      </dl>
      {value !== undefined && <p>{TEXT.identity.tokens(Total)}</p>}
      {Unknown > 0 && <p>{TEXT.identity.unknown(Unknown)}</p>}
      <SelectField
        label={TEXT.identity.blockFor}
        help={TEXT.identity.blockHelp}
        options={BLOCK_FOR}
        value={blockFor}
        onInput={setBlockFor}
      />
    </ReviewDialog>
  );
}

const whomOf = ({ Subject, SubjectPrefix = '' }: BlockRow): string =>
  Subject ?? TEXT.identity.prefix(SubjectPrefix);

/** The blocks of an auth method that are in force. */
export function Blocks({ method }: { method: string }) {
  const { value, problem, reload } = useLoad(
    (signal) =>
      read<readonly BlockRow[]>('/v1/acl/identity-blocks', {
        signal,
        query: { authmethod: method },
      }),
    [method],
  );
  const { problem: refused, isBusy, attempt } = useAttempt();
  const may = useMay('acl:write');
  if (value === undefined || value.length === 0)
    return problem?.code === 'unavailable' ? null : <ProblemNotice problem={problem} />;
  const lift = async (id: string, signal: AbortSignal): Promise<void> => {
    await ask(`/v1/acl/identity-block/${id}`, { method: 'DELETE', signal });
    reload();
  };
  return (
    <Panel title={TEXT.identity.blocks} problem={refused}>
      <Table caption={TEXT.identity.blocks} columns={TEXT.identity.columns}>
        {value.map((block) => (
          <tr key={block.ID}>
            <th scope="row">{whomOf(block)}</th>
            <td>{block.Until === null ? TEXT.identity.lifted : <Time at={block.Until} />}</td>
            <td>
              <Who author={block.Author} />
            </td>
            <td>{block.Reason}</td>
            <td>
              <button
                type="button"
                disabled={isBusy || may === false}
                aria-label={TEXT.identity.liftOf(whomOf(block))}
                onClick={() => void attempt((signal) => lift(block.ID, signal))}
              >
                {TEXT.identity.lift}
              </button>
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}
