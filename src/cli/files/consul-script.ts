/**
 * The script that loads an export into Consul by Consul's own command line. It holds no secret: it
 * takes them from the files beside it. What it knows to be there it updates, by name or AccessorID;
 * a binding rule, which has no name, is there if an equal one is.
 */
import { escapeHtml } from '../../languages/json.js';

/** The functions that the calls of a script need. `$1` is a namespace, empty for `default`. */
const FUNCTIONS = `set -eu
umask 077
cd "$(dirname "$0")"

say() { printf '%s\\n' "$*"; }

# exists NAMESPACE ARGUMENTS...
exists() {
  ns=$1
  shift
  consul "$@" \${ns:+"-namespace=$ns"} >/dev/null 2>&1
}

# policy NAMESPACE NAME ARGUMENTS...
policy() {
  ns=$1 name=$2
  shift 2
  if exists "$ns" acl policy read -name="$name"; then set -- update -no-merge "$@"
  else set -- create "$@"; fi
  say "policy $name: $1"
  consul acl policy "$@" -name="$name" \${ns:+"-namespace=$ns"} >/dev/null
}

# role NAMESPACE NAME TEMPLATES ARGUMENTS...
role() {
  ns=$1 name=$2 templates=$3
  shift 3
  id=
  if exists "$ns" acl role read -name="$name"; then
    id=$(consul acl role read -name="$name" -format=json \${ns:+"-namespace=$ns"} |
      sed -n 's/^    "ID": "\\(.*\\)",$/\\1/p')
    set -- update -no-merge -id="$id" -replace-templated-policy-file="$templates" "$@"
  else set -- create -templated-policy-file="$templates" "$@"; fi
  say "role $name: $1"
  consul acl role "$@" -name="$name" \${ns:+"-namespace=$ns"} >/dev/null
}

# namespace NAME FILE
namespace() {
  say "namespace $1"
  consul namespace write "$2" >/dev/null
}

# method NAMESPACE NAME TYPE FILE CERTIFICATE ARGUMENTS...
method() {
  ns=$1 name=$2 type=$3 file=$4 certificate=$5
  shift 5
  if [ "$type" = kubernetes ]; then
    jwt=$(sed -n 's/^  "ServiceAccountJWT": "\\([^"]*\\)",*$/\\1/p' "$file")
    set -- -kubernetes-ca-cert=@"$certificate" -kubernetes-service-account-jwt="$jwt" "$@"
  else set -- -config=@"$file" "$@"; fi
  if exists "$ns" acl auth-method read -name="$name"; then set -- update "$@"
  else set -- create -type="$type" "$@"; fi
  say "auth-method $name: $1"
  consul acl auth-method "$@" -name="$name" \${ns:+"-namespace=$ns"} >/dev/null
}

# rule NAMESPACE METHOD CONTENT ARGUMENTS...
rule() {
  ns=$1 method=$2 content=$3
  shift 3
  consul acl binding-rule list -method="$method" -format=json \${ns:+"-namespace=$ns"} >.rules
  if awk '
    /^    [{]/ { text = ""; next }
    /^    [}]/ { print text; next }
    /^        "(ID|CreateIndex|ModifyIndex|Namespace|Partition)":/ { next }
    { sub(/^ +/, ""); sub(/,$/, ""); text = text $0 }
  ' .rules | grep -Fqx -e "$content"; then
    rm .rules
    say "binding-rule of $method: is there"
    return
  fi
  rm .rules
  say "binding-rule of $method: create"
  consul acl binding-rule create -method="$method" "$@" \${ns:+"-namespace=$ns"} >/dev/null
}

# anonymous ARGUMENTS...
anonymous() {
  say "the anonymous token: update"
  consul acl token update -accessor-id=00000000-0000-0000-0000-000000000002 "$@" >/dev/null
}

# token NAMESPACE ACCESSOR TEMPLATES LOCAL END ARGUMENTS...: END in seconds of Unix time, or empty
token() {
  ns=$1 id=$2 templates=$3 local=$4 end=$5
  shift 5
  if exists "$ns" acl token read -accessor-id="$id"; then
    set -- update -accessor-id="$id" -replace-templated-policy-file="$templates" "$@"
  else
    if [ -n "$end" ]; then
      rest=$((end - $(date +%s)))
      if [ "$rest" -lt 60 ]; then
        say "token $id: is over, left out"
        return
      fi
      set -- -expires-ttl="\${rest}s" "$@"
    fi
    secret=$(sed -n 's/.*"AccessorID":"'"$id"'","SecretID":"\\([^"]*\\)".*/\\1/p' tokens.json)
    set -- create -accessor="$id" -secret="$secret" -local="$local" \\
      -templated-policy-file="$templates" "$@"
  fi
  say "token $id: $1"
  consul acl token "$@" \${ns:+"-namespace=$ns"} >/dev/null
}

# entries NAMESPACE FILES...: those that need others are tried again
entries() {
  ns=$1
  shift
  while [ $# -gt 0 ]; do
    count=$# failed= reasons=
    for file do
      if why=$(consul config write \${ns:+"-namespace=$ns"} "$file" 2>&1); then say "$file"
      else
        failed="$failed $file"
        reasons="$reasons$file: $why
"
      fi
    done
    set -- $failed
    if [ $# -eq "$count" ]; then
      printf '%s' "$reasons" >&2
      say "none of these could be written: $*" >&2
      exit 1
    fi
  done
}
`;

const HEAD = `#!/bin/sh
# Loads what this folder holds into a Consul, by its command line:
#   CONSUL_HTTP_ADDR=… CONSUL_HTTP_TOKEN_FILE=… sh load.sh
# It stops at the first fault. Run again, it updates what is there and makes the rest.
# The command line takes the secrets of tokens and of kubernetes methods as arguments alone: run
# this where nobody else can list processes. NOT-LOADED.md tells what this folder does not hold.
`;

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A call of one of the functions. */
export const call = (name: string, ...words: readonly string[]): string =>
  [name, ...words.map(quote)].join(' ');

/** Returns the script. `enterprise`: the calls that only a Consul with namespaces takes. */
export function scriptOf(calls: readonly string[], enterprise: readonly string[]): string {
  const more = [
    'if consul namespace list >/dev/null 2>&1; then',
    ...enterprise.map((line) => `  ${line}`),
    'else',
    '  say "this Consul has no namespaces: what needs them is left out (NOT-LOADED.md)"',
    'fi',
  ];
  return [
    HEAD + FUNCTIONS,
    ...calls,
    ...(enterprise.length > 0 ? more : []),
    'say "loaded"',
    '',
  ].join('\n');
}

/** Returns a binding rule as the script sees it in the list of Consul. */
export function ruleContent(rule: Readonly<Record<string, unknown>>): string {
  const shown = (value: unknown): string => escapeHtml(JSON.stringify(value ?? ''));
  const names = ['Description', 'AuthMethod', 'Selector', 'BindType', 'BindName'];
  const vars = rule['BindVars'] as { readonly name?: string } | undefined;
  return [
    ...names.map((name) => `"${name}": ${shown(rule[name])}`),
    ...(vars?.name === undefined ? [] : [`"BindVars": {"Name": ${shown(vars.name)}}`]),
  ].join('');
}

/** Returns templated policies in the form of the command line. */
export const templatesText = (
  templates: readonly { readonly TemplateName: string; readonly name: string | undefined }[],
): string =>
  [
    '# templated policies',
    ...templates.map(({ TemplateName, name }) => {
      const members = name === undefined ? '' : ` Name = ${JSON.stringify(name)} `;
      return `TemplatedPolicy ${JSON.stringify(TemplateName)} {${members}}`;
    }),
    '',
  ].join('\n');
