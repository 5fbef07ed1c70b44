/** Shots at the HTTP port that are hardly requests, or not at all. */
import type { Random } from '../../cluster/checker/random.js';
import type { Shot } from './shot.js';

const HEAD = 'Host: localhost\r\n';
const LINES = [
  ...[
    'GET',
    'GET /',
    'GET / HTTP/1.1',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ],
  ...[
    `GET  /v1/status/leader  HTTP/1.1\r\n${HEAD}\r\n`,
    `get /v1/status/leader HTTP/1.1\r\n${HEAD}\r\n`,
  ],
  ...[
    `FOO /v1/status/leader HTTP/1.1\r\n${HEAD}\r\n`,
    'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n',
  ],
  ...[
    'GET http://example.org/v1/status/leader HTTP/1.1\r\nHost: localhost\r\n\r\n',
    `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`,
  ],
  ...[
    'GET /v1/status/leader HTTP/1.1\r\n\r\n',
    `GET /v1/status/leader HTTP/1.1\r\n${HEAD}Host: b\r\n\r\n`,
  ],
  ...[
    `GET /v1/status/leader HTTP/1.1\n${HEAD}\n`,
    `GET /v1/status/leader HTTP/1.1\r\n${HEAD}A : b\r\n\r\n`,
  ],
  ...[
    `GET /v1/status/leader HTTP/1.1\r\n${HEAD} folded: x\r\n\r\n`,
    `GET /\u0000 HTTP/1.1\r\n${HEAD}\r\n`,
  ],
  ...[
    `GET /v1/status/leader?\u00ff HTTP/1.1\r\n${HEAD}\r\n`,
    `GET //v1/status/leader HTTP/1.1\r\n${HEAD}\r\n`,
  ],
  ...[
    `GET /v1/../v1/status/leader HTTP/1.1\r\n${HEAD}\r\n`,
    `GET /v1/status%2Fleader HTTP/1.1\r\n${HEAD}\r\n`,
  ],
  ...[`GET /v1/status/leader HTTP/1.1\r\n${HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`],
  ...[
    `GET /v1/status/leader HTTP/1.1\r\n${HEAD}Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AA\r\n\r\n`,
  ],
  ...[`POST /v1/acl/login HTTP/1.1\r\n${HEAD}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`],
  ...[`POST /v1/acl/login HTTP/1.1\r\n${HEAD}Expect: 200-ok\r\nContent-Length: 2\r\n\r\n{}`],
  ...[
    `POST /v1/acl/login HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  ],
  ...[`POST /v1/acl/login HTTP/1.1\r\n${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ...[
    `POST /v1/acl/login HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n`,
  ],
  ...[
    `POST /v1/acl/login HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n-1\r\nx`,
    '\r\n\r\n\r\n',
  ],
];

/** A shot at the connection itself. */
export function rawShot(random: Random, nodes: number): Shot {
  const node = random.int(nodes);
  const shot = { node, methods: ['GET', 'GET', 'GET', 'GET'], strict: false };
  const draw = random.next();
  if (draw < 0.2)
    return { ...shot, label: 'raw: noise', parts: [noise(random, 1 + random.int(3000))] };
  if (draw < 0.25)
    return { ...shot, label: 'raw: huge headers', parts: [hugeHead(random)], leavesAfterMs: 1000 };
  if (draw < 0.4)
    return { ...shot, label: 'raw: half open', parts: halfOf(random), leavesAfterMs: 1500 };
  const line = Buffer.from(random.pick(LINES), 'latin1');
  if (draw < 0.5) {
    const label = 'raw: damaged request';
    for (let n = 1 + random.int(3); n > 0; n--) line[random.int(line.length)] = random.int(256);
    return { ...shot, label, parts: [line], leavesAfterMs: 500 };
  }
  if (draw < 0.6) {
    const bytes = Buffer.concat([line, noise(random, 200), line]);
    return { ...shot, label: 'raw: request, noise, request', parts: [bytes], leavesAfterMs: 500 };
  }
  return { ...shot, label: 'raw: odd request', parts: [line], leavesAfterMs: 500 };
}

export const noise = (random: Random, bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, () => random.int(256)));

function hugeHead(random: Random): Buffer {
  const more = `X-${'n'.repeat(random.int(9000))}: ${'v'.repeat(random.int(90_000))}\r\n`;
  return Buffer.from(`GET /v1/status/leader HTTP/1.1\r\n${HEAD}${more}\r\n`);
}

/** A request whose rest never arrives. */
function halfOf(random: Random): Buffer[] {
  const length = 1 + random.int(100_000);
  return random.pick([
    [Buffer.alloc(0)],
    [Buffer.from(`PUT /v1/config HTTP/1.1\r\n${HEAD}Content-Length: ${length}\r\n\r\n{"Kind":`)],
    [
      Buffer.from(
        `POST /v1/acl/login HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"A`,
      ),
    ],
    [Buffer.from(`GET /v1/status/leader HTTP/1.1\r\n${HEAD}X-Slow: `)],
    [Buffer.from(`GET /v1/config/mesh?index=99999999&wait=60s HTTP/1.1\r\n${HEAD}\r\n`)],
  ]);
}
