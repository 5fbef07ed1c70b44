/** The help of the commands of a node: its settings in groups, each with default and choices. */
import { type Command, Option } from 'commander';
import { flagName } from './config.js';
import type { Setting } from './setting.js';
import { SETTINGS } from './settings.js';

/** The settings that `--help` shows. The others stand in `--help-all`. */
const MAIN: ReadonlySet<string> = new Set([
  'nodeName',
  'dataDir',
  'pidFile',
  'http.host',
  'http.port',
  'http.tls.cert',
  'http.tls.key',
  'http.tls.ca',
  'raft.host',
  'raft.port',
  'raft.advertise',
  'raft.tls.cert',
  'raft.tls.key',
  'raft.tls.ca',
  'raft.tls.name',
  'raft.sharedKeyFile',
  'cluster.initial',
  'cluster.join',
  'cluster.joinTokenFile',
  'acl.defaultPolicy',
  'acl.initialManagementFile',
  'log.level',
  'log.format',
]);

const GROUPS: Readonly<Record<string, string>> = {
  http: 'API:',
  raft: 'Traffic between members:',
  cluster: 'Cluster:',
  acl: 'Access control:',
  login: 'Logins:',
  limits: 'Limits:',
  log: 'Log:',
};

/** Which settings the help of a command shows. */
export type ShownSettings = 'main' | 'all' | readonly string[];

/** Adds a flag for every setting; the help shows some of them. */
export function withSettings(command: Command, shown: ShownSettings): Command {
  // The names of some settings take more than half of a terminal.
  command.configureHelp({ minWidthToWrap: 20 });
  command.option('-c, --config <file>', 'configuration file (JSON)');
  for (const setting of SETTINGS) {
    const isShown =
      shown === 'all' || (shown === 'main' ? MAIN.has(setting.key) : shown.includes(setting.key));
    const option = new Option(`${flagName(setting.key)} <${setting.type}>`, whyOf(setting));
    option.helpGroup(GROUPS[setting.key.split('.')[0]!] ?? 'Node:');
    // A secret is parsed as a flag only to report what to use instead.
    command.addOption(setting.secret || !isShown ? option.hideHelp() : option);
  }
  const rest = shown === 'main' ? '\nFor all settings: conclave agent --help-all.' : '';
  const note =
    shown === 'all' || shown === 'main'
      ? `Each is also a key in the file (http.port) and a variable (CONCLAVE_HTTP_PORT).${rest}`
      : 'The settings of the node are accepted too: conclave agent --help-all.';
  return command.addHelpText('after', `\n${note}`);
}

/** Returns the reason of a setting, its default and its choices. */
function whyOf({ why, default: value, choices }: Setting): string {
  const isSaid =
    value !== undefined && value !== '' && !/^(\[\]|\{\})$/.test(JSON.stringify(value));
  const notes = [
    ...(choices === undefined ? [] : [choices.join(', ')]),
    ...(isSaid ? [`default: ${value}`] : []),
  ];
  return notes.length === 0 ? why : `${why} (${notes.join('; ')})`;
}
