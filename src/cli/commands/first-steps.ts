/** What `conclave` says when it is called with nothing. */

/** Five things that one does first, ready to be pasted. */
export const FIRST_STEPS = `conclave: replicated access control and central configuration

Five things to begin with:

  1. run a node            conclave agent --data-dir ./data
  2. make the first token  conclave acl bootstrap --token-sink-file admin.token
                           export CONCLAVE_HTTP_TOKEN_FILE=$PWD/admin.token
  3. write a policy        echo 'service "web" { policy = "write" }' |
                             conclave acl policy create --name web --rules -
  4. give it to someone    conclave acl token create --policy-name web
  5. write configuration   printf 'Kind: service-defaults\\nName: web\\n' |
                             conclave config write -

To try a cluster of three on this machine: conclave dev --nodes 3

conclave --help lists all commands, conclave COMMAND --help explains one.
`;
