/** Which tokens gain and lose which rights by a plan. */
import type { ImpactGroup, Plan, RightChange } from '../api/sets.js';
import { Link } from '../parts/link.js';
import { TEXT } from '../texts.js';

/** The tokens in groups, or that there are none. */
export function Impact({ of }: { of: Plan['Impact']['Tokens'] }) {
  const { Affected, Truncated, Hidden, Groups } = of;
  return (
    <>
      {Hidden && <p>{TEXT.impact.hidden}</p>}
      {Affected === 0 && !Hidden && <p>{TEXT.impact.none}</p>}
      {Affected > 0 && (
        <>
          <h3>
            {TEXT.impact.title}: {Affected.toLocaleString('en')}
          </h3>
          {Truncated && <p>{TEXT.impact.truncated}</p>}
          <ul aria-label={TEXT.impact.title}>
            {Groups.map((group) => (
              <Group key={JSON.stringify(group)} group={group} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Group({
  group: { Tokens, Removed, Policies, Roles, Sample, Gains, Loses },
}: {
  group: ImpactGroup;
}) {
  const grants = [
    ...Policies.map(({ Name, ID }) => `policy ${Name ?? ID}`),
    ...Roles.map(({ Name, ID }) => `role ${Name ?? ID}`),
  ];
  return (
    <li>
      <strong>{TEXT.impact.tokens(Tokens)}</strong> {grants.join(', ')}{' '}
      {Removed && TEXT.impact.removed}
      <span class="quiet">
        {Sample.length > 0 && '– '}
        {Sample.map(({ AccessorID, Description }, nth) => (
          <span key={AccessorID}>
            {nth > 0 && ', '}
            <Link to={['tokens', AccessorID]}>{Description || AccessorID}</Link>
          </span>
        ))}
      </span>
      <ul>
        {Gains.map((right) => (
          <Right key={JSON.stringify(right)} what={TEXT.impact.gains} right={right} />
        ))}
        {Loses.map((right) => (
          <Right key={JSON.stringify(right)} what={TEXT.impact.loses} right={right} />
        ))}
      </ul>
    </li>
  );
}

/** `Gains service "web*": read → write`. */
function Right({ what, right }: { what: string; right: RightChange }) {
  const { Namespace, Resource, Match, Name = '', Before, After } = right;
  const name = Match === 'scalar' ? '' : ` "${Name}${Match === 'prefix' ? '*' : ''}"`;
  const level = (of: string): string => (of === '' ? TEXT.impact.nothing : of);
  return (
    <li class={what === TEXT.impact.gains ? 'gains' : 'loses'}>
      <strong>{what}</strong>{' '}
      <code>
        {Resource}
        {name}
      </code>
      : {TEXT.impact.change(level(Before), level(After))}
      {Namespace !== '' && Namespace !== 'default' && TEXT.impact.within(Namespace)}
    </li>
  );
}
