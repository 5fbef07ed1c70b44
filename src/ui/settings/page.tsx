/** The settings of the cluster, which can be changed, and of the node, which its file has. */
import { useState } from 'preact/hooks';
import type { AgentHistory } from '../../api/endpoints/agent.js';
import type { Level } from '../../api/endpoints/operator.js';
import { open, read } from '../api/client.js';
import { bytes } from '../overview/units.js';
import { TextField } from '../parts/field.js';
import { useAttempt } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useLoad } from '../parts/load.js';
import { Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Panel } from '../parts/panel.js';
import { useMay } from '../parts/rights.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { TEXT } from '../texts.js';
import { type Configuration, ConfigurationForm } from './form.js';

const T = TEXT.settings;

const CONFIGURATIONS: readonly Configuration[] = [
  {
    ...T.history,
    path: '/v1/operator/history/configuration',
    members: ['VersionsPerObject', 'Bytes', 'LoginBytes', 'MaxAge'],
    right: 'operator:write',
  },
  {
    ...T.acl,
    path: '/v1/operator/acl/configuration',
    members: ['LoginTokenTTL', 'LoginTokenTTLMax', 'TokensPerIdentity', 'OnTokenLimit'],
    right: 'acl:write',
    options: { OnTokenLimit: ['refuse', 'replace'] },
  },
  {
    ...T.autopilot,
    path: '/v1/operator/autopilot/configuration',
    members: [
      'CleanupDeadServers',
      'LastContactThreshold',
      'MaxTrailingLogs',
      'MinQuorum',
      'ServerStabilizationTime',
    ],
    byCas: true,
    right: 'operator:write',
  },
];

/** The page. */
export const SettingsPage = () => (
  <Page title={TEXT.page.settings} about={T.about}>
    <LevelPanel />
    {CONFIGURATIONS.map((each) => (
      <ConfigurationForm key={each.path} of={each} />
    ))}
    <BackupPanel />
    <NodePanel />
  </Page>
);

function LevelPanel() {
  const { value, problem } = useLoad(
    (signal) => read<Level>('/v1/operator/level', { signal, ns: '' }),
    [],
  );
  return (
    <Panel title={T.level.title} about={T.level.about} problem={problem}>
      {value !== undefined && (
        <>
          <p>
            {T.level.inForce(value.Level)}{' '}
            {value.Waiting.length > 0 && T.level.waiting(value.Waiting.join(', '))}
          </p>
          <Table caption={T.level.members} columns={T.level.columns}>
            {value.Members.map(({ Name, Supported }) => (
              <tr key={Name}>
                <th scope="row">{Name}</th>
                <td>{Supported ?? T.level.unknown}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </Panel>
  );
}

/** Saves the archive of a moment in the browser. Returns its name and size. */
async function backUp(): Promise<string> {
  const response = await open('/v1/snapshot', { ns: '' });
  const archive = await response.blob();
  const name = `conclave-${response.headers.get('X-Consul-Index') ?? 'backup'}.tgz`;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(archive);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
  return T.backup.saved(name, bytes(archive.size));
}

function BackupPanel() {
  const {
    value,
    problem: unread,
    reload,
  } = useLoad(
    (signal) => read<AgentHistory>('/v1/agent/history', { signal, ns: '', once: true }),
    [],
  );
  const [done, setDone] = useState<string>();
  const { problem, isBusy, attempt } = useAttempt();
  const may = useMay('acl:write', undefined, 'default');
  const save = async (): Promise<void> => {
    setDone(await backUp());
    reload();
  };
  const last = value?.LastBackup;
  return (
    <Panel title={T.backup.title} about={T.backup.about} problem={problem ?? unread}>
      {value !== undefined && (
        <dl>
          <div>
            <dt>{T.backup.last}</dt>
            <dd>{last ? <Time at={last} /> : TEXT.figures.noBackup}</dd>
          </div>
        </dl>
      )}
      <Status>{done}</Status>
      <button type="button" disabled={isBusy || may === false} onClick={() => void attempt(save)}>
        {T.backup.now}
      </button>
    </Panel>
  );
}

/** Returns the settings below a value, by their keys. */
function settingsIn(value: unknown, key = ''): readonly (readonly [key: string, text: string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [[key, typeof value === 'string' ? value : JSON.stringify(value)]];
  const members = Object.entries(value);
  if (members.length === 0) return [[key, '{}']];
  return members.flatMap(([name, member]) =>
    settingsIn(member, key === '' ? name : `${key}.${name}`),
  );
}

function NodePanel() {
  const { value, problem } = useLoad(async (signal) => {
    const { DebugConfig } = await read<{ readonly DebugConfig: unknown }>('/v1/agent/self', {
      signal,
      ns: '',
    });
    return settingsIn(DebugConfig);
  }, []);
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const shown = (value ?? []).filter((each) => each.join(' ').toLowerCase().includes(wanted));
  return (
    <Panel title={T.node.title} about={T.node.about} problem={problem}>
      <p>
        <Link to={['audit']}>{T.audit}</Link>
      </p>
      {value !== undefined && (
        <>
          <TextField label={TEXT.list.filter} value={filter} onInput={setFilter} />
          <Table caption={T.node.title} columns={T.node.columns}>
            {shown.map(([key, text]) => (
              <tr key={key}>
                <th scope="row">
                  <code>{key}</code>
                </th>
                <td>{text}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </Panel>
  );
}
