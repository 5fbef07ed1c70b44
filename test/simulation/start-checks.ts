/** What a start without a fault must leave as it was. */
import { Violation } from './invariants.js';
import type { SimServer } from './server.js';

/** What a server had before its last start. */
export interface Before {
  readonly server: SimServer;
  readonly look: ReturnType<SimServer['look']>;
  readonly isWhole: boolean;
  /** Whether it knows of no fault of its state. It may have learnt of one a moment ago. */
  readonly isRight: boolean;
}

/** Throws unless a server whose state was right has after a start what it had before. */
export function checkStart({ server, look, isWhole, isRight }: Before): void {
  if (!isRight) return;
  const wrong = (what: string): void => {
    throw new Violation('a start changes nothing', `${server.id} ${what}`);
  };
  const now = server.look();
  const lacks = server.startedLacking;
  if (lacks !== undefined) wrong(`is said to lack something: ${lacks}`);
  else if (isWhole && server.lacking) wrong('lacks something');
  else if (!now || !look) wrong('is not up');
  else if (now.applied === look.applied && now.sum !== look.sum) wrong('has another state');
}
