/**
 * How a proposal is written into a log entry. The log outlives every version of the program, so the envelope has a
 * version of its own, decoding is strict, and the command inside is JSON text: unlike msgpack maps it keeps hostile member
 * names (`__proto__`) as they are.
 */
import { Packr } from 'msgpackr';
import { FatalError } from './fatal.js';
import type { Command, Proposal } from './types.js';

const ENVELOPE_VERSION = 1;
const packr = new Packr({ useRecords: false });

/** Bytes of a proposal: msgpack `[1, id, since, command as JSON text]`. */
export function encodeProposal(proposal: Proposal): Uint8Array {
  const { id, since, command } = proposal;
  return packr.pack([ENVELOPE_VERSION, id, since, JSON.stringify(command)]);
}

/** Reads what `encodeProposal` wrote. Throws FatalError: committed bytes that cannot be read stop the node. */
export function decodeProposal(data: Uint8Array): Proposal {
  const parts: unknown = unpack(data);
  if (!Array.isArray(parts) || parts.length !== 4 || parts[0] !== ENVELOPE_VERSION) {
    throw new FatalError('a log entry has an envelope that this version does not know');
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
