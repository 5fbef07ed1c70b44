/** A user, and servers that answer what a test says, for a suite. */
import type { RequestListener } from 'node:http';
import { FakeServers } from './fake-server.js';
import { type Given, User } from './harness.js';

/** Makes them. The servers forget their requests before each test. */
export function fakeStage() {
  const user = new User();
  const fake = new FakeServers();
  beforeEach(() => fake.forget());
  after(() => {
    fake.close();
    user.leave();
  });
  return {
    user,
    fake,
    /** Runs a command against a new server with these answers. */
    run: async (
      args: string | readonly string[],
      answers: readonly RequestListener[],
      given: Given = {},
    ) => {
      const words = typeof args === 'string' ? args.split(' ') : args;
      return user.run([...words, '--http-addr', await fake.serve(...answers)], given);
    },
    /** The bodies of the requests, parsed. */
    bodies: () => fake.seen.flatMap(({ body }) => (body === '' ? [] : [JSON.parse(body)])),
    urls: () => fake.seen.map(({ url }) => url),
  };
}
