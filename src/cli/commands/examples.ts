/** An example of each command, shown below its help and in docs/cli.md. */
import type { Command } from 'commander';

/** Examples by the words of the command, without the name of the program before each line. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  status: ['status'],
  members: ['members -o json'],
  health: ['health --wait --timeout 1m'],
  doctor: ['doctor --http-addr n1:8500,n2:8500,n3:8500'],
  watch: ['watch service-defaults/web', 'watch tokens -o json --changes 10'],
  'acl bootstrap': ['acl bootstrap --token-sink-file admin.token'],
  'acl token create': ['acl token create --role-name ops --expires-ttl 8h'],
  'acl token read': ['acl token read 8a2d31f0 --expanded', 'acl token read --self'],
  'acl token update': ['acl token update 8a2d31f0 --append-policy-name ops'],
  'acl token clone': ['acl token clone 8a2d31f0 --description "for the night shift"'],
  'acl token delete': ['acl token delete 8a2d31f0'],
  'acl token list': [`acl token list --filter 'AuthMethod == "ci"'`, 'acl token list --role ops'],
  'acl policy create': [
    'acl policy create --name ops --rules @ops.hcl',
    `acl policy create --name web --rules 'service "web" { policy = "write" }'`,
  ],
  'acl policy read': ['acl policy read ops'],
  'acl policy update': ['acl policy update ops --rules @ops.hcl --if-match 118'],
  'acl policy delete': ['acl policy delete ops', 'acl policy delete ops --yes'],
  'acl policy list': [`acl policy list --filter 'Name matches "^team-"'`],
  'acl policy lint': ['acl policy lint policies/*.hcl', 'acl policy lint --strict ops.hcl'],
  'acl role create': ['acl role create --name ops --policy-name ops'],
  'acl role read': ['acl role read ops'],
  'acl role update': ['acl role update ops --policy-name ops --policy-name audit'],
  'acl role delete': ['acl role delete ops'],
  'acl role list': ['acl role list --policy 5c1e0f5a-4c7e-4f1c-9d3c-2f0c4b7b9f11'],
  'acl auth-method create': ['acl auth-method create ci --type jwt --config @ci.json'],
  'acl auth-method read': ['acl auth-method read ci'],
  'acl auth-method update': ['acl auth-method update ci --max-token-ttl 1h'],
  'acl auth-method delete': ['acl auth-method delete ci'],
  'acl auth-method list': ['acl auth-method list'],
  'acl binding-rule create': [
    'acl binding-rule create --method ci --bind-type role \\\n' +
      "    --bind-name 'team-${value.team}' --selector '\"team\" in value'",
  ],
  'acl binding-rule read': ['acl binding-rule read 1f3b9c52'],
  'acl binding-rule update': ['acl binding-rule update 1f3b9c52 --bind-name ops'],
  'acl binding-rule delete': ['acl binding-rule delete 1f3b9c52'],
  'acl binding-rule list': ['acl binding-rule list --method ci'],
  'acl binding-rule lint': [
    'acl binding-rule lint --method ci --bind-type role --bind-name ops \\\n' +
      `    --selector 'value.team == "blue"'`,
    `acl binding-rule lint 1f3b9c52 --selector 'value.team == "red"'`,
  ],
  'acl templated-policy list': ['acl templated-policy list'],
  'acl templated-policy read': ['acl templated-policy read builtin/service'],
  'acl templated-policy preview': ['acl templated-policy preview builtin/service --var name:web'],
  'acl explain': ['acl explain service:write:web acl:read'],
  'acl whoami': ['acl whoami', 'acl whoami --accessor 8a2d31f0'],
  'acl who-can': ['acl who-can service:write:web'],
  'acl decision': ['acl decision 4f0c9a1b-00000000000002d1'],
  'acl login explain': [`acl login explain --method ci --claims '{"team":"blue"}'`],
  'acl lint': ['acl lint --severity error', 'acl lint --namespace "*" --strict'],
  'namespace create': ['namespace create team-a --default-policy-name readers'],
  'namespace read': ['namespace read team-a'],
  'namespace update': ['namespace update team-a --meta owner=blue'],
  'namespace write': ['namespace write team-a.yaml'],
  'namespace delete': ['namespace delete team-a'],
  'namespace list': ['namespace list -o name'],
  'config write': [
    'config write web.yaml',
    'config write mesh.yaml entries/',
    'config write --cas --modify-index 0 - < web.json',
  ],
  'config read': ['config read service-defaults/web', 'config read service-router web -o yaml'],
  'config list': [`config list service-defaults --filter 'Protocol == "http"'`],
  'config delete': ['config delete service-router/web'],
  'config validate': ['config validate entries/*.yaml', 'config validate --offline web.json'],
  'config edit': ['config edit service-router/web'],
  'config chain': ['config chain web'],
  'config schema': ['config schema service-router'],
  'snapshot save': [
    'snapshot save backup.snap',
    'snapshot save backup.snap --stale --http-addr n1:8500',
  ],
  'snapshot restore': ['snapshot restore backup.snap'],
  leave: ['leave --http-addr n4:8500'],
  'join-token': ['join-token --ttl 1h > n4.token'],
  'operator raft list-peers': ['operator raft list-peers', 'operator raft list-peers --stale'],
  'operator raft transfer-leader': ['operator raft transfer-leader n2'],
  'operator raft remove-peer': ['operator raft remove-peer n4 --yes'],
  'operator raft joining': ['operator raft joining'],
  'operator raft admit': ['operator raft admit n4'],
  'operator autopilot state': ['operator autopilot state'],
  'operator autopilot get-config': ['operator autopilot get-config'],
  'operator autopilot set-config': ['operator autopilot set-config --min-quorum 3'],
  'operator acl get-config': ['operator acl get-config'],
  'operator acl set-config': [
    'operator acl set-config --login-token-ttl 1h --tokens-per-identity 5',
  ],
  'operator level': ['operator level'],
  login: ['login --method ci --bearer-token-file ci.jwt'],
  logout: ['logout'],
  'profile list': ['profile list'],
  'profile set': ['profile set live --http-addr https://a:8501 --ca-file ca.pem'],
  'profile use': ['profile use live'],
  'profile delete': ['profile delete live'],
  completion: ['completion bash > ~/.local/share/bash-completion/completions/conclave'],
  version: ['version'],
};

/** Adds to the help of every command what stands in the table. */
export function addExamples(program: Command): void {
  for (const [words, lines] of Object.entries(EXAMPLES)) {
    const command = words
      .split(' ')
      .reduce(
        (at, word) => at?.commands.find((one) => one.name() === word),
        program as Command | undefined,
      );
    if (command === undefined) throw new Error(`there is no command "${words}"`);
    const shown = lines.map((line) => `  conclave ${line.replaceAll('\n', '\n  ')}\n`).join('');
    command.addHelpText('after', `\nExamples:\n${shown.trimEnd()}`);
  }
}
