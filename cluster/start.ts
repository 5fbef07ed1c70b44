/** `npm start`: `conclave dev` with three nodes, in `data/`. */
import { runDev } from './dev.js';

await runDev(process.argv.slice(2), { command: 'npm start', dir: 'data', nodes: 3 });
