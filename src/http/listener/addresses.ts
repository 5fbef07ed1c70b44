/** Addresses of clients as the limits count them. */
import type { Socket } from 'node:net';

const bySocket = new WeakMap<Socket, string>();

/** Returns the address of a connection's client as the limits count it. */
export function clientOf(socket: Socket): string {
  let client = bySocket.get(socket);
  if (client === undefined) {
    client = clientAt(socket.remoteAddress ?? '');
    bySocket.set(socket, client);
  }
  return client;
}

/**
 * Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address: a client chooses the
 * others.
 */
export function clientAt(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::') as [string?, string?];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
