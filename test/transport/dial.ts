/** A process that dials a member and reports to its parent whether it trusted the other side. */
import { once } from 'node:events';
import { socketMaker } from '../../src/transport/security.js';
import type { WireSecurity } from '../../src/transport/sockets.js';

const [{ security, port }] = (await once(process, 'message')) as [
  { security: WireSecurity; port: number },
];
const tell = (outcome: string): void => {
  process.send!(outcome, () => process.exit());
};
socketMaker(security)
  .dial({ host: '127.0.0.1', port }, () => tell('believed'))
  .on('error', (error) => tell(error.message));
