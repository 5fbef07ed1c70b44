// Walks through what the package consul has of this API. Prints a line for each step.
import assert from 'node:assert/strict';
import Consul from 'consul';

const [host, port] = process.env.CONSUL_HTTP_ADDR.split(':');
const client = (token) => new Consul({ host, port: Number(port), defaults: { token } });
const ok = (step) => console.log('ok', step);

const first = await client('').acl.bootstrap();
const consul = client(first.SecretID);
await assert.rejects(client('').acl.bootstrap(), /not allowed|no longer/i);
ok('bootstrap');

const replication = await consul.acl.replication();
assert.equal(replication.Enabled, false);
ok('replication');

assert.match(await consul.status.leader(), /:\d+$/);
assert.equal((await consul.status.peers()).length, 1);
assert.equal((await consul.agent.self()).Config.Datacenter, 'dc1');
assert.equal((await consul.agent.members()).length, 1);
ok('status, agent');
