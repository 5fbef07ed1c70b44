/** `leave` and `join-token`: how servers leave a cluster and join it. */
import type { Command } from 'commander';
import type { JoinToken } from '../../api/endpoints/operator.js';
import { type Call, type Cli, oneNode } from '../cli.js';
import type { Self } from '../client/cluster.js';

export function addMembership(program: Command, cli: Cli): void {
  program
    .command('leave')
    .description('remove the contacted node from its cluster')
    .action(
      cli.action(async (call) => {
        oneNode(call, 'leave');
        call.print.say(`${await leave(call)} is no longer a member; stop it`);
      }),
    );
  program
    .command('join-token')
    .description('create a token that lets one server join the cluster')
    .option('--ttl <duration>', 'how long it is valid, up to 24h (default: 15m)')
    .action(
      cli.action<{ ttl?: string }>(async (call) => {
        const query = { ttl: call.options.ttl };
        const answer = await call.api.ask('POST', '/v1/operator/raft/join-token', { query });
        const made = answer.json<JoinToken>();
        call.print.note(`valid for one server, until ${made.ExpirationTime}`);
        if (call.print.format === 'table') call.print.say(made.JoinToken);
        else await call.print.value(made);
      }),
    );
}

/** Removes a node from its cluster and returns its name. Does not stop the process. */
async function leave({ api }: Call<object>): Promise<string> {
  const { Config } = (await api.get('/v1/agent/self')).json<Self>();
  await api.ask('DELETE', '/v1/operator/raft/peer', { query: { id: Config.NodeID } });
  return Config.NodeName;
}
