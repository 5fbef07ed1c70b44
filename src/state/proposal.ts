/**
 * The encoding of a proposal in a log entry. A log outlives releases, so the envelope has a version
 * of its own, and decoding is strict. The command inside is JSON text, which unlike a msgpack map
 * preserves hostile member names such as `__proto__`.
 */
import { Packr } from 'msgpackr/pack';
import { FatalError } from './fatal.js';
import type { Command, Proposal } from './types.js';

const ENVELOPE_VERSION = 1;
const packr = new Packr({ useRecords: false });

/** Encodes a proposal as msgpack: `[1, id, since, command as JSON text]`. */
export function encodeProposal(proposal: Proposal): Uint8Array {
  const { id, since, command } = proposal;
  return packr.pack([ENVELOPE_VERSION, id, since, JSON.stringify(command)]);
}

/**
 * Decodes what `encodeProposal` wrote. Throws FatalError if it cannot, because the bytes are
 * committed: a node that skipped them would differ from the others.
 */
export function decodeProposal(data: Uint8Array): Proposal {
  const parts: unknown = unpack(data);
  if (!Array.isArray(parts) || parts.length !== 4 || parts[0] !== ENVELOPE_VERSION) {
    throw new FatalError('a log entry has an envelope that this release does not know');
  }
  const [, id, since, text] = parts as unknown[];
  if (typeof id !== 'string' || !Number.isSafeInteger(since) || typeof text !== 'string') {
    throw new FatalError('a log entry has a damaged envelope');
  }
  return { id, since: since as number, command: parseCommand(text) };
}

function unpack(data: Uint8Array): unknown {
  try {
    return packr.unpack(data);
  } catch (cause) {
    throw new FatalError('a log entry cannot be unpacked', { cause });
  }
}

function parseCommand(text: string): Command {
  let command: unknown;
  try {
    command = JSON.parse(text);
  } catch (cause) {
    throw new FatalError('the command of a log entry is not JSON', { cause });
  }
  if (typeof (command as Partial<Command> | null)?.type !== 'string') {
    throw new FatalError('the command of a log entry has no type');
  }
  return command as Command;
}
