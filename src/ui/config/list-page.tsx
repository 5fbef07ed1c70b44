/** The list of config entries, by kind. */
import { KINDS } from '../../api/objects.js';
import { ListPage } from '../objects/list-page.js';
import { go, hrefOf, type Place } from '../router.js';
import { TEXT } from '../texts.js';
import { configType } from './type.js';

/** All entries, or those of the kind in the address. */
export function ConfigListPage({ at }: { at: Place }) {
  const [, kind] = at.parts;
  return (
    <ListPage type={configType(kind)} at={at}>
      <label class="filter kinds">
        <span>{TEXT.field.kind}</span>
        <select
          value={kind ?? ''}
          onChange={({ currentTarget: { value } }) =>
            go(hrefOf(value === '' ? ['config'] : ['config', value]))
          }
        >
          <option value="">{TEXT.config.all}</option>
          {KINDS.map(({ kind: each }) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
    </ListPage>
  );
}
