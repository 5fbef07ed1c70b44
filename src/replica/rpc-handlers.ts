/** How one server answers the requests of the others, and its own when it leads. */
import type { Index } from '../raft/types.js';
import type { Availability } from './availability.js';
import type { Compaction } from './log/compaction.js';
import type { RaftLoop } from './loop.js';
import type { Admission } from './members/admission.js';
import type { Health } from './members/health.js';
import type { KnownServers } from './members/known-servers.js';
import type { Levels } from './members/levels.js';
import type { Membership } from './members/membership.js';
import type { Peers } from './members/peers.js';
import type { ReplicaParts } from './options.js';
import { READ_MODE } from './reads/read-index.js';
import type { RpcHandlers } from './rpc.js';
import type { RpcResponse } from './rpc-codec.js';
import type { StateComparison } from './state/comparison.js';
import type { Divergence } from './state/divergence.js';
import type { LeaderWrites } from './writes/leader-writes.js';

/** The components that handle requests. */
export interface HandlingComponents {
  readonly availability: Availability;
  readonly loop: RaftLoop;
  readonly leaderWrites: LeaderWrites;
  readonly admission: Admission;
  readonly membership: Membership;
  readonly peers: Peers;
  readonly knownServers: KnownServers;
  readonly levels: Levels;
  readonly health: Health;
  readonly compaction: Compaction;
  readonly comparison: StateComparison;
  readonly divergence: Divergence;
}

/** Responds with a text, if there is one. */
const textOr = (text: string | undefined): RpcResponse =>
  text === undefined ? { type: 'retry' } : { type: 'status', text };

/** The function for each request of `RpcRequest`. */
export function rpcHandlers(components: HandlingComponents, parts: ReplicaParts): RpcHandlers {
  const { availability, loop, leaderWrites, admission, membership, peers, levels } = components;
  const { knownServers, compaction, comparison, divergence, health } = components;
  const { id, limits, hasRoom, statusText, decisionText, usageText } = parts;
  const { machine } = parts.ports;
  const appliedIndex = (): Index => machine.appliedIndex();
  /** Much of what is known to be committed is not applied here. */
  const isLagging = (): boolean => loop.status().commit - appliedIndex() > limits.promoteLagMax;
  const leads = (): boolean => loop.role.role === 'leader';
  return {
    write: (request, done) => leaderWrites.write(request, done),
    read: ({ mode, term }, done, from) =>
      loop.read(
        READ_MODE[mode],
        (index) => done(index === undefined ? { type: 'retry' } : { type: 'index', index }),
        { id: from, term },
      ),
    state: (_request, done, from) =>
      done({ type: compaction.sendState(id, from) ? 'done' : 'retry' }),
    add: (request, done, from) => admission.ask(request, from, done),
    admit: ({ server }, done) => admission.admit(server, done),
    remove: ({ id: of }, done) => membership.remove(of, done),
    transfer: ({ to }, done) => membership.transfer(to, done),
    removed: ({ index }, done) => {
      peers.removedBy(index);
      done({ type: 'done' });
    },
    room: (_request, done) => {
      const isReady = !availability.isUnfit && !loop.elections.votingSuspended && !isLagging();
      const couldLead = isReady && hasRoom?.() !== false;
      done({ type: couldLead ? 'done' : 'retry' });
    },
    status: (_request, done) => {
      // It may lose its leadership while it asks.
      health.ask((problems) => {
        const text = leads() ? statusText?.(problems) : undefined;
        done(text === undefined ? { type: 'retry' } : { type: 'status', text });
      });
    },
    joining: (_request, done) => {
      const text = JSON.stringify(admission.waiting);
      done(leads() ? { type: 'status', text } : { type: 'retry' });
    },
    decision: ({ id: of }, done) => done(textOr(decisionText?.(of))),
    usage: ({ id: from }, done) => done(textOr(usageText?.(from))),
    member: ({ id: of }, done) =>
      done(peers.isMember(of) ? vouching(knownServers.keyOf(of)) : { type: 'retry' }),
    level: (_request, done) =>
      done(aboutSelf({ level: levels.supported, applied: appliedIndex() }, availability)),
    // A state that is known to be wrong, or is about to be replaced, is not compared.
    sums: ({ index }, done) =>
      done((availability.fault === undefined && comparison.answer(index)) || { type: 'retry' }),
    differs: ({ index, table }, done) => {
      divergence.found(index, table);
      done({ type: 'done' });
    },
  };
}

/** Returns what a server says about itself. */
const aboutSelf = (
  facts: { readonly level: number; readonly applied: Index },
  { problem }: Availability,
): RpcResponse =>
  problem === undefined ? { type: 'level', ...facts } : { type: 'level', ...facts, problem };

/** Returns the response about a member, with the key by which it is known. */
const vouching = (publicKey: string | undefined): RpcResponse =>
  publicKey === undefined ? { type: 'done' } : { type: 'done', publicKey };
