#!/usr/bin/env node
import { releaseOf } from '../base/release.js';
/** The program: a node, or a command of the client. Loads only what the command needs. */
import { nodeCommandOf } from '../cli/commands/node-commands.js';

// Set before any file is created: a node's files hold secrets.
process.umask(0o077);

const { version } = releaseOf();
const given = process.argv.slice(2);
const named = nodeCommandOf(given);
if (named !== undefined) {
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
