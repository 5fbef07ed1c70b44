/**
 * Where a request of this node may go: by the host that a URL names, and by the address that it is
 * resolved to.
 */
import { BlockList, isIP } from 'node:net';
import { DEFAULT_NAMESPACE } from '../../state/object.js';

export interface AddressRules {
  /**
   * Hosts that may be named (`idp.example.com`, `*.example.com`, either with a port); empty: any.
   */
  readonly allowedHosts: readonly string[];
  /**
   * Methods of any namespace may reach loopback, link-local and private addresses; else those of
   * `default` alone.
   */
  readonly privateAddresses: boolean;
  /** Requests may go without TLS; else to loopback alone, by methods of `default`. */
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
/**
 * Addresses that are not of the public network, and those of IPv6 in which one of IPv4 may stand.
 */
const INSIDE = listOf(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
);

/** A list of IPv4 subnets matches addresses of IPv6 in which they are mapped, too. */
const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The host of a URL, without the brackets of IPv6 and the dot at the end. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '');
const isLocalName = (host: string): boolean => /(^|\.)localhost$/.test(host);

/** Why a request may not be sent, as far as its URL tells; undefined when it may. */
export function urlProblem(url: URL, namespace: string, rules: AddressRules): string | undefined {
  const host = hostOf(url);
  if (!isAllowed(url, host, rules.allowedHosts)) {
    return `${host} is not among the hosts of login.allowedHosts`;
  }
  if (isIP(host) !== 0) return addressProblem(url, host, namespace, rules);
  if (isLocalName(host)) return addressProblem(url, '127.0.0.1', namespace, rules);
  return needsTls(url, rules) ? WITHOUT_TLS : undefined;
}

/** Why a request may not be sent to an address; undefined when it may. */
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
