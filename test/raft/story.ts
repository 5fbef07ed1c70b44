/** Records what a cluster does, line by line, so that a whole exchange can be read and compared. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Entry, Message } from '../../src/raft/types.js';
import { Cluster } from './cluster.js';

function entryText({ index, term, ...entry }: Entry): string {
  if (entry.kind === 'command') return `${index}/${term} ${new TextDecoder().decode(entry.data)}`;
  if (entry.kind === 'noop') return `${index}/${term} noop`;
  const ids = entry.configuration.members.map(({ id, voter }) => (voter ? id : `${id}?`));
  return `${index}/${term} {${ids.join(' ')}}`;
}

/** A message in one line; positions are index/term. */
function messageText(message: Message): string {
  const head = `${message.from} > ${message.to}  ${message.type} term ${message.term}`;
  switch (message.type) {
    case 'preVote':
    case 'vote': {
      const transfer = message.transfer === true ? ', by transfer' : '';
      return `${head}: log ends at ${message.lastIndex}/${message.lastTerm}${transfer}`;
    }
    case 'preVoteResponse':
    case 'voteResponse':
      return `${head}: ${message.granted ? 'yes' : 'no'}`;
    case 'append': {
      const { prevIndex, prevTerm, entries, commit, round } = message;
      const list = entries.map(entryText).join(', ');
      const what = `behind ${prevIndex}/${prevTerm} [${list}]`;
      return `${head}: ${what} commit ${commit} round ${round}`;
    }
    case 'appendResponse': {
      const { success, index, hintTerm, round } = message;
      const what = success ? `has ${index}` : `no, try ${index}/${hintTerm}`;
      return `${head}: ${what} round ${round}`;
    }
    case 'snapshot':
      return `${head}: up to ${message.meta.index}/${message.meta.term}`;
    case 'timeoutNow':
      return head;
  }
}

export class Story extends Cluster {
  readonly lines: string[] = [];
  readonly #states = new Map<string, string>();

  constructor(...args: ConstructorParameters<typeof Cluster>) {
    super(...args);
    this.onMessage = (message, delivered) => {
      this.#look();
      this.lines.push(`  ${messageText(message)}${delivered ? '' : '  (lost)'}`);
    };
  }

  /** Runs the prelude of a transcript; only its outcome is recorded. */
  given(title: string, act: () => void): void {
    act();
    this.lines.length = 0;
    this.#states.clear();
    this.lines.push(`# ${title}`);
    this.#look();
  }

  /** Runs a chapter and records what happens in it. */
  chapter(title: string, act: () => void): void {
    this.lines.push('', `# ${title}`);
    act();
    this.#look();
  }

  /** Records all logs. */
  logs(): void {
    for (const { id, log } of this.up()) {
      const meta = log.snapshot();
      const start = meta === undefined ? '' : `(snapshot ${meta.index}/${meta.term}) `;
      this.lines.push(`${id} log: ${start}${log.content.entries.map(entryText).join(', ')}`);
    }
  }

  /** Compares with the stored text; writes it instead when STORIES=write. */
  matches(name: string): void {
    const path = join(process.cwd(), 'test', 'raft', 'stories', `${name}.txt`);
    const actual = `${this.lines.join('\n').trim()}\n`;
    if (process.env['STORIES'] === 'write') writeFileSync(path, actual);
    expect(actual).to.equal(readFileSync(path, 'utf8'));
  }

  #look(): void {
    for (const server of this.up()) {
      const { id, status } = server;
      const { role, term, leader, commit } = status;
      const text = `${role} term ${term}, leader ${leader ?? 'none'}, commit ${commit}`;
      if (this.#states.get(id) === text) continue;
      this.#states.set(id, text);
      this.lines.push(`${id} is ${text}`);
    }
  }
}
