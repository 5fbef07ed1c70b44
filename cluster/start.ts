/** `npm start`: `conclave dev` with three nodes, in `data/`. */
import { runDev } from '../src/dev/dev.js';

await runDev(process.argv.slice(2), { command: 'npm start', dir: 'data', nodes: 3 });
