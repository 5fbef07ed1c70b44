/** The page Intentions: who may call whom, as a matrix and around one service. */
import { useState } from 'preact/hooks';
import { readPage } from '../lists/page.js';
import { TextField } from '../parts/field.js';
import { Link } from '../parts/link.js';
import { useWatch } from '../parts/load.js';
import { Empty, ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { Tabs } from '../parts/tabs.js';
import { hrefOf, namespace, type Place, readdress } from '../router.js';
import { TEXT } from '../texts.js';
import { ANY, type Decision, type Intentions, Rules } from './decide.js';
import { Neighbours } from './neighbours.js';

/** Entries that are shown, and rows and columns that a matrix has. */
const ENTRIES_MAX = 1000;
const SHOWN_MAX = 40;
const T = TEXT.intentions;

/** What the page is made from. */
async function load(signal: AbortSignal) {
  const how = { signal, size: ENTRIES_MAX };
  const answer = await readPage<Intentions>('/v1/config/service-intentions', how);
  const { items, total, isFiltered } = answer.value;
  const isAllowed = answer.headers.get('X-Consul-Default-ACL-Policy') === 'allow';
  const rules = new Rules(items, isAllowed);
  return { ...answer, value: { rules, more: total - items.length, isFiltered } };
}

/** Which service is looked at stands in the address. */
export function IntentionsPage({ at }: { at: Place }) {
  const service = at.parts.slice(1).join('/');
  const [way, setWay] = useState(service === '' ? 0 : 1);
  const { value, problem } = useWatch(load, [namespace()], { isHeld: false });
  const rules = value?.rules;
  const isEmpty = rules !== undefined && rules.destinations.length === 0;
  return (
    <Page title={TEXT.page.intentions} about={T.about}>
      <ProblemNotice problem={problem} />
      {isEmpty && (
        <Empty>
          {T.empty(rules.decide(ANY, ANY).is)}{' '}
          <Link to={['config', 'service-intentions']} query={{ new: '' }}>
            {T.first}
          </Link>
        </Empty>
      )}
      {value !== undefined && (
        <Status>
          {value.more > 0 && T.more(value.more)} {value.isFiltered && T.hidden}
        </Status>
      )}
      {rules !== undefined && !isEmpty && (
        <Tabs
          label={T.ways}
          chosen={way}
          onChoose={setWay}
          tabs={[
            { name: T.matrix, panel: () => <Matrix rules={rules} /> },
            {
              name: T.around,
              panel: () => (
                <Neighbours
                  rules={rules}
                  service={service}
                  onChoose={(next) => readdress(hrefOf(['intentions', next]))}
                />
              ),
            },
          ]}
        />
      )}
    </Page>
  );
}

/** Sources down, destinations across. What the filter leaves is cut to what can be read. */
function Matrix({ rules }: { rules: Rules }) {
  const [typed, setTyped] = useState('');
  const wanted = typed.trim().toLowerCase();
  const has = (name: string): boolean => name.toLowerCase().includes(wanted) || name === ANY;
  const [across, down] = [rules.destinations, rules.sources].map((names) => names.filter(has));
  const [shownAcross, shownDown] = [across!, down!].map((names) => names.slice(0, SHOWN_MAX));
  const cut = across!.length + down!.length - shownAcross!.length - shownDown!.length;
  return (
    <>
      <TextField label={T.filter} value={typed} onInput={setTyped} />
      <Status>{cut > 0 && T.cut(cut)}</Status>
      <Table
        caption={T.matrix}
        label={T.table}
        kind="matrix"
        columns={[T.corner, ...shownAcross!.map(named)]}
      >
        {shownDown!.map((source) => (
          <tr key={source}>
            <th scope="row">{named(source)}</th>
            {shownAcross!.map((destination) => (
              <Cell
                key={destination}
                source={source}
                destination={destination}
                decision={rules.decide(source, destination)}
              />
            ))}
          </tr>
        ))}
      </Table>
    </>
  );
}

const named = (name: string): string => (name === ANY ? T.any : name);

function Cell({
  source,
  destination,
  decision,
}: {
  source: string;
  destination: string;
  decision: Decision;
}) {
  const { is, by } = decision;
  const isOwn = by?.entry === destination && by.source === source;
  const why = T.why(named(source), named(destination), decision);
  return (
    <td class={isOwn ? is : `${is} derived`} title={why}>
      {by === undefined ? (
        T.words[is]
      ) : (
        <Link to={['config', 'service-intentions', by.entry]}>{T.words[is]}</Link>
      )}
    </td>
  );
}
