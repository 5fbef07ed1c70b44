/** Deliberate faults that the simulation must find. See `scripts/mutate.ts`. */
import type { Mutation } from './mutation.js';
import { changeMutations } from './mutations-changes.js';
import { decisionMutations } from './mutations-decisions.js';
import { feedMutations } from './mutations-feed.js';
import { identityMutations } from './mutations-identities.js';
import { importMutations } from './mutations-imports.js';
import { migrateMutations } from './mutations-migrate.js';
import { nodeMutations } from './mutations-node.js';
import { raftMutations } from './mutations-raft.js';
import { serviceMutations } from './mutations-service.js';
import { storageMutations } from './mutations-storage.js';
import { wireMutations } from './mutations-wire.js';

export const mutations: readonly Mutation[] = [
  ...raftMutations,
  ...nodeMutations,
  ...wireMutations,
  ...serviceMutations,
  ...storageMutations,
  ...changeMutations,
  ...decisionMutations,
  ...identityMutations,
  ...feedMutations,
  ...importMutations,
  ...migrateMutations,
];
