/** Who made a change, when and why. */
import type { Author, ObjectVersion } from '../api/history.js';
import { Link } from '../parts/link.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';

/** Whether the server itself made a change: a token may have the same description. */
export const isOfServer = (author: Author | null): boolean =>
  author?.AccessorID === '' && author.Description === 'server';

/** Who: the token, and who logged in with it if it came of a login. */
export function Who({ author }: { author: Author | null }) {
  if (author === null) return <>{TEXT.history.unknown}</>;
  const { AccessorID, Description, Identity } = author;
  const who =
    Identity === undefined
      ? Description || AccessorID
      : TEXT.history.identity(Identity.Subject, Identity.AuthMethod);
  if (AccessorID === '') return <>{isOfServer(author) ? TEXT.history.server : who}</>;
  return <Link to={['tokens', AccessorID]}>{who}</Link>;
}

/** A version in one line: what was done, when, by whom and why. */
export const VersionLine = ({ version }: { version: ObjectVersion }) => (
  <>
    <strong>{version.Operation}</strong> {TEXT.history.version(version.Index)}
    {version.Current && ` (${TEXT.history.current})`}
    {version.Time !== null && (
      <>
        , <Time at={version.Time} />, <Who author={version.Author} />
      </>
    )}
    {version.Reason !== '' && <q class="reason">{version.Reason}</q>}
  </>
);
