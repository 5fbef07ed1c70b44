/**
 * Decides where this node may send requests: by the host that a URL names, and by the address to
 * which that host resolves.
 */
import { BlockList, isIP } from 'node:net';
import { DEFAULT_NAMESPACE } from '../../state/object.js';

/** Rules for requests of auth methods, from the settings `login.*`. */
export interface AddressRules {
  /**
   * Allowed hosts (`idp.example.com`, `*.example.com`, either with a port). An empty list allows
   * all.
   */
  readonly allowedHosts: readonly string[];
  /**
   * Whether methods of all namespaces may reach loopback, link-local and private addresses.
   * Otherwise only those of `default` may.
   */
  readonly privateAddresses: boolean;
  /** Whether requests may go without TLS. Otherwise only those of `default` to loopback may. */
  readonly plainHttp: boolean;
}

const listOf = (...subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net, bits] = subnet.split('/') as [string, string];
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
};
const LOOPBACK = listOf('127.0.0.0/8', '::1/128');
/** Addresses outside the public network, and IPv6 addresses that may embed an IPv4 address. */
const INSIDE = listOf(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
);

/** Whether a list has an address. IPv4 subnets match IPv4-mapped IPv6 addresses too. */
const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Returns the host of a URL without IPv6 brackets and trailing dot. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '');
const isLocalName = (host: string): boolean => /(^|\.)localhost$/.test(host);

/** Returns why a request may not be sent, judged by its URL alone; undefined if it may. */
export function urlProblem(url: URL, namespace: string, rules: AddressRules): string | undefined {
  const host = hostOf(url);
  if (!isAllowed(url, host, rules.allowedHosts)) {
    return `${host} is not among the hosts of login.allowedHosts`;
  }
  if (isIP(host) !== 0) return addressProblem(url, host, namespace, rules);
  if (isLocalName(host)) return addressProblem(url, '127.0.0.1', namespace, rules);
  return needsTls(url, rules) ? WITHOUT_TLS : undefined;
}

/** Returns why a request may not be sent to an address; undefined if it may. */
export function addressProblem(
  url: URL,
  address: string,
  namespace: string,
  rules: AddressRules,
): string | undefined {
  const isDefault = namespace === DEFAULT_NAMESPACE;
  if (!isDefault && !rules.privateAddresses && isIn(INSIDE, address)) {
    return `methods of the namespace "${namespace}" may not reach loopback, link-local or private addresses`;
  }
  const mayBePlain = isDefault && isIn(LOOPBACK, address);
  return needsTls(url, rules) && !mayBePlain ? WITHOUT_TLS : undefined;
}

const WITHOUT_TLS =
  'the URL is not https; http is for issuers on loopback of methods in the namespace "default"';
const needsTls = ({ protocol }: URL, { plainHttp }: AddressRules): boolean =>
  protocol !== 'https:' && !plainHttp;

function isAllowed(url: URL, host: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const names = [host, `${host.includes(':') ? `[${host}]` : host}:${port}`];
  return allowed.some((entry) => {
    const wanted = entry.toLowerCase();
    return wanted.startsWith('*.')
      ? names.some((name) => name.endsWith(wanted.slice(1)))
      : names.includes(wanted);
  });
}
