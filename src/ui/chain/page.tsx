/** The page Chains: the way of a request from the name of a service to its instances. */
import { useState } from 'preact/hooks';
import type { Chain } from '../../api/endpoints/config.js';
import { read } from '../api/client.js';
import { TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { useLoad } from '../parts/load.js';
import { Empty, ProblemNotice } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { go, hrefOf, type Place } from '../router.js';
import { TEXT } from '../texts.js';
import { ChainPicture, ChainText } from './picture.js';
import { nodesOf } from './trial.js';
import { Trial } from './trial-view.js';

/** The chain of the service in the address. */
export function ChainPage({ at }: { at: Place }) {
  const service = at.parts.slice(1).join('/');
  const [typed, setTyped] = useState(service);
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set());
  const { value, problem } = useLoad(
    async (signal) => {
      if (service === '') return undefined;
      const path = `/v1/discovery-chain/${encodeURIComponent(service)}`;
      return (await read<{ readonly Chain: Chain }>(path, { signal })).Chain;
    },
    [service, at.visit],
  );
  return (
    <Page title={TEXT.page.chains} about={TEXT.chain.about}>
      <Form
        class="panel"
        onSubmit={() => {
          if (typed.trim() !== '') go(hrefOf(['chains', typed.trim()]));
        }}
      >
        <TextField label={TEXT.field.service} value={typed} onInput={setTyped} />
        <button type="submit" class="main">
          {TEXT.chain.show}
        </button>
      </Form>
      <ProblemNotice problem={problem} />
      {service === '' && <Empty>{TEXT.empty.chains}</Empty>}
      {value !== undefined && (
        <section aria-labelledby="chain">
          <h2 id="chain">{TEXT.chain.title(value.ServiceName)}</h2>
          <p>{TEXT.chain.protocol(value.Protocol)}</p>
          <ChainPicture chain={value} taken={taken} />
          <Trial
            key={value.ServiceName}
            chain={value}
            onWay={(way) => setTaken(new Set(nodesOf(way)))}
          />
          <h3>{TEXT.chain.text}</h3>
          <ChainText chain={value} />
        </section>
      )}
    </Page>
  );
}
