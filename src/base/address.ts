/** Hosts and network addresses as text. */
import { isIPv4 } from 'node:net';

/** Whether a host name or IP address cannot be reached from another machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIPv4(host) && host.startsWith('127.');
}

/** Whether the host of `host:port` is a loopback address; false if the text is not an address. */
export function isLoopbackAddress(address: string): boolean {
  try {
    return isLoopback(parseAddress(address).host);
  } catch {
    return false;
  }
}

/** Whether the text is an address, `host:port` or `[v6]:port`. */
export function isAddress(text: string): boolean {
  try {
    parseAddress(text);
    return true;
  } catch {
    return false;
  }
}

/** Splits `host:port` or `[v6]:port`. Throws Error for anything else, such as white space. */
export function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]\s]+)\]|([^:\s]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    throw new Error(`"${address}" is not an address: expected host:port or [ipv6]:port`);
  }
  return { host: match[1] ?? match[2]!, port };
}
