/** docs/log.md as text. */
import { LOG_EVENTS } from '../../src/log/log-events.js';

const HEAD = `# The log of a node

Written by \`npm run docs\` from \`src/log/log-events.ts\`; do not edit it.

A node logs to its standard error: text on a terminal, elsewhere a JSON object a line
(\`log.format\`). Each line has \`time\` (RFC 3339, UTC), \`level\` (\`debug\`, \`info\`,
\`warn\`, \`error\`), \`node\`, \`event\` and the sentence \`msg\`; some have more, such as
\`peer\`, the name of the member that a line is about. Names of events keep their meaning,
sentences may change: search and alert by \`event\`. Each line of level \`error\`
needs attention. No line contains a secret.

\`log.level: "debug"\` adds a line for each request, with its route in place of names, and each
decision of Raft ([operations.md](operations.md#8-what-to-watch)).

| event | what it says |
| --- | --- |
`;

/** Returns the page. */
export const logPage = (): string =>
  HEAD +
  Object.entries(LOG_EVENTS)
    .map(([event, what]) => `| \`${event}\` | ${what} |\n`)
    .join('');
