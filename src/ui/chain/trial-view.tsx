/** A request that is tried on a discovery chain. */
import { useState } from 'preact/hooks';
import type { Chain } from '../../api/endpoints/config.js';
import { AreaField, SelectField, TextField } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { Status } from '../parts/notice.js';
import { TEXT } from '../texts.js';
import { labelsOf } from './graph.js';
import { pairsIn, type TrialStep, trial } from './trial.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const T = TEXT.chain.trial;

/** The form of a request, and its way. `onWay` gets the way, to show it elsewhere too. */
export function Trial({ chain, onWay }: { chain: Chain; onWay: (way: TrialStep) => void }) {
  const [form, setForm] = useState({ path: '/', method: 'GET', headers: '', query: '' });
  const [way, setWay] = useState<TrialStep>();
  const set = (key: keyof typeof form) => (value: string) => setForm({ ...form, [key]: value });
  const ask = (): void => {
    const [path = '', typed = ''] = form.path.split('?', 2);
    const found = trial(chain, {
      path,
      method: form.method,
      headers: pairsIn(form.headers, ':', (name) => name.toLowerCase()),
      query: pairsIn(`${form.query}\n${typed.replaceAll('&', '\n')}`, '='),
    });
    setWay(found);
    onWay(found);
  };
  return (
    <section class="panel" aria-labelledby="trial">
      <h3 id="trial">{T.title}</h3>
      <Form onSubmit={ask}>
        <div class="row fields">
          <TextField label={T.path} value={form.path} onInput={set('path')} />
          <SelectField
            label={T.method}
            options={METHODS}
            value={form.method}
            onInput={set('method')}
          />
        </div>
        <div class="row fields">
          <AreaField
            label={T.headers}
            help={T.headersHelp}
            rows={2}
            value={form.headers}
            onInput={set('headers')}
          />
          <AreaField
            label={T.query}
            help={T.queryHelp}
            rows={2}
            value={form.query}
            onInput={set('query')}
          />
        </div>
        <button type="submit" class="main">
          {T.ask}
        </button>
      </Form>
      <Status>
        {way !== undefined && (
          <ul class="tree">
            <StepView chain={chain} step={way} />
          </ul>
        )}
      </Status>
    </section>
  );
}

function StepView({ chain, step }: { chain: Chain; step: TrialStep }) {
  const { unsure = [], failover = [], next } = step;
  return (
    <li>
      {sentenceOf(chain, step)}
      {unsure.length > 0 && <p class="help">{T.unsure(unsure.map((nth) => nth + 1).join(', '))}</p>}
      {failover.length > 0 && <p class="help">{T.failover(failover.join(', '))}</p>}
      {next.length > 0 && (
        <ul>
          {next.map((each) => (
            <StepView key={each.node} chain={chain} step={each} />
          ))}
        </ul>
      )}
    </li>
  );
}

function sentenceOf(chain: Chain, { node, is, nth = 0, share, next }: TrialStep): string {
  const name = chain.Nodes[node]?.Name ?? node;
  const percent = `${Math.round(share * 100) / 100} %`;
  if (is === 'route') return T.route(name, nth + 1, labelsOf(chain, node)[nth] ?? '');
  if (is === 'no_route') return T.noRoute(name);
  if (is === 'split') return T.split(name, next.length);
  return T.target(percent, name);
}
