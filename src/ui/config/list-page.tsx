/** The list of config entries, by kind. */
import { KINDS } from '../../api/objects.js';
import { ListPage } from '../objects/list-page.js';
import { Link } from '../parts/link.js';
import type { Place } from '../router.js';
import { TEXT } from '../texts.js';
import { configType } from './type.js';

/** All entries, or those of the kind in the address. */
export function ConfigListPage({ at }: { at: Place }) {
  const [, kind] = at.parts;
  return (
    <ListPage type={configType(kind)} at={at}>
      <nav class="kinds" aria-label={TEXT.config.kinds}>
        <Link to={['config']} isCurrent={kind === undefined}>
          {TEXT.config.all}
        </Link>
        {KINDS.map(({ kind: each }) => (
          <Link key={each} to={['config', each]} isCurrent={each === kind}>
            {each}
          </Link>
        ))}
      </nav>
    </ListPage>
  );
}
