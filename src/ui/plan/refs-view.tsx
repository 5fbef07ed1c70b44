/** What refers to an object. */
import { OBJECTS } from '../../api/objects.js';
import type { Refs } from '../api/sets.js';
import { plural } from '../change-texts.js';
import { TEXT } from '../texts.js';

/** Names that are shown of a type. */
const NAMED = 3;

/** Returns the noun of a type of objects, and its plural. */
function nounsOf(type: string): readonly [one: string, many: string] {
  const found = Object.values(OBJECTS).find(({ slug }) => slug === type);
  return found === undefined ? ['config entry', 'config entries'] : [found.noun, found.plural];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Who uses the object, by type. */
export function UsedBy({ refs }: { refs: Refs }) {
  const types = Object.entries(refs.UsedByTotal).filter(([, count]) => count > 0);
  if (types.length === 0) return <p>{TEXT.refs.none}</p>;
  return (
    <>
      {types.map(([type, count]) => {
        const names = refs.UsedBy.filter(({ Type }) => Type === type)
          .slice(0, NAMED)
          .map(({ Name, ID }) => Name || ID);
        return <p key={type}>{TEXT.refs.used(count, capital(nounsOf(type)[1]), names)}</p>;
      })}
      {refs.Filtered && <p>{TEXT.refs.filtered}</p>}
    </>
  );
}

/** What deleting the object would do, and who uses it. */
export function IfDeleted({ refs }: { refs: Refs }) {
  const { IfDeleted: then } = refs;
  const removed = Object.entries(then.Removed).map(([type, count]) =>
    plural(count, ...nounsOf(type)),
  );
  const { TokensThatLoseRights: tokens = 0 } = then;
  return (
    <>
      <UsedBy refs={refs} />
      {then.Refused !== '' && (
        <p class="notice bad" role="alert">
          {then.Refused}
        </p>
      )}
      {removed.length > 0 && <p>{TEXT.refs.removed(removed)}</p>}
      {tokens > 0 && <p>{TEXT.refs.loses(tokens, then.Truncated)}</p>}
    </>
  );
}
