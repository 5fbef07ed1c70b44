/** An example of each command, shown below its help and in docs/cli.md. */
import type { Command } from 'commander';
import { subcommandOf } from '../arguments.js';

/** Command lines without the name of the program; those of one command follow one another. */
const EXAMPLES = `
status
members -o json
health --wait --timeout 1m
doctor --http-addr n1:8500,n2:8500,n3:8500
watch service-defaults/web
watch tokens -o json --changes 10
events --topics ACLPolicy,ACLRole --from start
events --topics ConfigEntry --exec 'jq .Key'
acl bootstrap --token-sink-file admin.token
acl token create --role-name ops --expires-ttl 8h
acl token read 8a2d31f0 --expanded
acl token read --self
acl token update 8a2d31f0 --append-policy-name ops
acl token clone 8a2d31f0 --description "for the night shift"
acl token delete 8a2d31f0
acl auth-method usage ci
acl token usage 8a2d31f0
acl token usage --unused-for 720h
acl token gc --unused-for 720h --method ci --dry-run
acl token list --filter 'AuthMethod == "ci"'
acl token list --role ops
acl token list --search deploy --sort -created --limit 20
acl policy create --name ops --rules @ops.hcl
acl policy create --name web --rules 'service "web" { policy = "write" }'
acl policy read ops
acl policy update ops --rules @ops.hcl --if-match 118
acl policy delete ops
acl policy delete ops --yes
acl policy list --filter 'Name matches "^team-"'
acl policy lint policies/*.hcl
acl policy lint --strict ops.hcl
acl role create --name ops --policy-name ops
acl role read ops
acl role update ops --policy-name ops --policy-name audit
acl role delete ops
acl role list --policy 5c1e0f5a-4c7e-4f1c-9d3c-2f0c4b7b9f11
acl auth-method create ci --type jwt --config @ci.json
acl auth-method create staff --type oidc --max-token-ttl 1h --config @staff.json
acl auth-method read ci
acl auth-method update ci --max-token-ttl 1h
acl auth-method delete ci
acl auth-method list
acl binding-rule create --method ci --bind-type role \\
    --bind-name 'team-\${value.team}' --selector '"team" in value'
acl binding-rule read 1f3b9c52
acl binding-rule update 1f3b9c52 --bind-name ops
acl binding-rule delete 1f3b9c52
acl binding-rule list --method ci
acl binding-rule lint --method ci --bind-type role --bind-name ops \\
    --selector 'value.team == "blue"'
acl binding-rule lint 1f3b9c52 --selector 'value.team == "red"'
acl templated-policy list
acl templated-policy read builtin/service
acl templated-policy preview builtin/service --var name:web
acl can approve orders/17
acl can write service/web --as role:ops
acl can --all orders --as role:clerk
acl can --list
acl explain service:write:web acl:read
acl explain orders:approve:17
acl whoami
acl whoami --accessor 8a2d31f0
acl who-can service:write:web
acl who-can acl:write --at 2026-11-03T14:05:00Z
acl decision 4f0c9a1b-00000000000002d1
acl identity revoke --method ci --subject prod/web --block-for 24h --reason INC-7
acl identity blocks --method ci
acl identity unblock 1f3b9c52-8a2d-4c7e-9d3c-2f0c4b7b9f11
acl login explain --method ci --claims '{"team":"blue"}'
acl lint --severity error
acl lint --namespace "*" --strict
namespace create team-a --default-policy-name readers
namespace read team-a
namespace update team-a --meta owner=blue
namespace write team-a.yaml
namespace delete team-a
namespace list -o name
config write web.yaml
config write mesh.yaml entries/
config write --cas --modify-index 0 - < web.json
config read service-defaults/web
config read service-router web -o yaml
config list service-defaults --filter 'Protocol == "http"'
config delete service-router/web
config validate entries/*.yaml
config validate --offline web.json
config edit service-router/web
config chain web
config schema service-router
refs policy ops
refs config service-defaults/web
plan -f policies/ --owner gitops/payments --prune
plan -f payments.yaml --exit-code
diff -f payments.yaml
apply -f policies/ --owner gitops/payments --prune
apply -f - --yes < payments.yaml
apply -f all/ --in-parts --dry-run
export --owner gitops/payments > payments.yaml
export --namespace "*" --folder policies
export --consul consul-folder --with-secrets
export --at 2026-11-03T14:05:00Z --types policy,role
history policy ops
history config/service-defaults/web --show 118
history diff policy ops --from 118 --to 140
history feed --follow
history feed --subject ci/user-1 --logins
undo 140
rollback policy ops --to 118
rollback --owner gitops/payments --to 2026-11-03T14:05:00Z
snapshot save backup.snap
snapshot save backup.snap --stale --http-addr n1:8500
snapshot restore backup.snap
migrate --from https://consul.example:8501 --dry-run --report report.json
migrate --from https://consul.example:8501 --with-secrets --watch
leave --http-addr n4:8500
join-token --ttl 1h > n4.token
operator raft list-peers
operator raft list-peers --stale
operator raft transfer-leader n2
operator raft remove-peer n4 --yes
operator raft joining
operator raft admit n4
operator autopilot state
operator autopilot get-config
operator autopilot set-config --min-quorum 3
operator acl get-config
operator acl set-config --login-token-ttl 1h --tokens-per-identity 5
operator level
operator oidc rotate
operator audit
audit tail --follow
login --method ci --bearer-token-file ci.jwt
login --method staff
logout
logout --browser
profile list
profile set live --http-addr https://a:8501 --ca-file ca.pem
profile use live
profile delete live
completion bash > ~/.local/share/bash-completion/completions/conclave
version
`;

/** Adds to the help of every command its examples. */
export function addExamples(program: Command): void {
  const found = new Map<Command, string>();
  for (const line of EXAMPLES.trim().split(/(?<!\\)\n/)) {
    let command = program;
    for (const word of line.split(' ')) command = subcommandOf(command, word) ?? command;
    const shown = `\n  conclave ${line.replaceAll('\n', '\n  ')}`;
    found.set(command, (found.get(command) ?? '\nExamples:') + shown);
  }
  for (const [command, text] of found) command.addHelpText('after', text);
}
