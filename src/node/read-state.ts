/** The first step of a start. This module loads little, since the rest of the program waits. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY_FILE } from '../base/data-folder.js';
import type { Identity } from '../replica/members/identity.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import { type LoadedState, loadState } from '../storage/state-load.js';
import { claimIdentity } from './identity.js';

/** The folder of the state in a data folder. */
export const STATE_FOLDER = 'state';

/** A data folder whose state is being read. */
export interface Loading {
  /** The identity in the folder, which is claimed when this resolves. */
  readonly identity: Promise<Identity | undefined>;
  readonly state: Promise<LoadedState>;
}

/**
 * Claims the data folder of a node and begins to read its state, so that the disk works while the
 * rest of the program is loaded. Returns undefined for a folder that is not in use yet. A failure
 * is reported by whoever opens the node.
 */
export function readState(dataDir: string): Loading | undefined {
  if (!existsSync(join(dataDir, IDENTITY_FILE))) return undefined;
  const identity = claimIdentity(dataDir);
  const state = identity.then(() => loadState(join(dataDir, STATE_FOLDER), { disk: LEVEL_DISK }));
  state.catch(() => {});
  return { identity, state };
}
