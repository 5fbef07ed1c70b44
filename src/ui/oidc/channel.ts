/** How tabs hand each other the token of a login. Only who knows the name of a channel hears it. */
import type { OidcLogin } from '../session.js';

/** Milliseconds within which a page takes what it has asked for. */
const TAKE_MS = 2000;
const TAKEN = 'taken';

/** A token with its login, and the token that it replaces, if it does. */
export interface Handed {
  readonly token: string;
  readonly login: OidcLogin;
  readonly former?: string;
}

/** Hands a token over. Returns whether somebody has taken it. */
export async function handOver(name: string, handed: Handed): Promise<boolean> {
  const channel = new BroadcastChannel(name);
  const isTaken = new Promise<boolean>((resolve) => {
    channel.onmessage = () => resolve(true);
    setTimeout(() => resolve(false), TAKE_MS);
  });
  channel.postMessage(handed);
  try {
    return await isTaken;
  } finally {
    channel.close();
  }
}

/** Hears what is handed over. `take` returns whether it takes it. Returns what ends that. */
export function hear(name: string, take: (handed: Handed) => boolean): () => void {
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => {
    if (data !== TAKEN && take(data as Handed)) channel.postMessage(TAKEN);
  };
  return () => channel.close();
}
