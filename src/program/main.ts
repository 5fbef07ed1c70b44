#!/usr/bin/env node
/** The program: a node, or a command of the client. Loads only what the command needs. */
import { releaseOf } from '../base/release.js';
import { nodeCommandOf } from '../cli/commands/node-commands.js';
import { stopMemoryReducer } from './idle-heap.js';

// Set before any file is created: a node's files hold secrets.
process.umask(0o077);

const { version } = releaseOf();
const given = process.argv.slice(2);
const named = nodeCommandOf(given);
if (named !== undefined) {
  stopMemoryReducer();
  const { runNode } = await import('./node-program.js');
  await runNode(named, version);
} else {
  const { runClient } = await import('../cli/client.js');
  const { terminal } = await import('../cli/print/terminal.js');
  const io = terminal(version, async (file) => {
    const { readSnapshotFile } = await import('../service/archives/snapshot-file.js');
    return readSnapshotFile(file, false);
  });
  process.exitCode = await runClient(given, io);
}
