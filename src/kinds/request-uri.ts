/**
 * The URIs that Consul takes: those that Go's `url.ParseRequestURI` reads. It is more lenient than
 * RFC 3986, and takes `*`, paths from the root, and any scheme with or without a host.
 */

/** Returns what is wrong with a URI, or undefined. */
export function requestUriFault(uri: string): string | undefined {
  if (/[\u0000-\u001f\u007f]/.test(uri)) return 'invalid control character in URL';
  if (uri === '*') return undefined;
  if (uri.startsWith(':')) return 'missing protocol scheme';
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(uri)?.[0] ?? '';
  const rest = uri.slice(scheme.length).split('?', 1)[0]!;
  if (!rest.startsWith('/')) return scheme === '' ? 'invalid URI for request' : undefined;
  if (scheme === '' || !rest.startsWith('//')) return escapeFault(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return authorityFault(authority) ?? escapeFault(slash < 0 ? '' : rest.slice(slash));
}

/** Every `%` must begin an escape. */
function escapeFault(text: string): string | undefined {
  const broken = /%(?![0-9A-Fa-f]{2}).{0,2}/su.exec(text)?.[0];
  return broken === undefined ? undefined : `invalid URL escape ${JSON.stringify(broken)}`;
}

function authorityFault(authority: string): string | undefined {
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return 'net/url: invalid userinfo';
  return escapeFault(user) ?? hostFault(authority.slice(at + 1));
}

function hostFault(host: string): string | undefined {
  const bracketed = host.startsWith('[');
  const end = host.lastIndexOf(bracketed ? ']' : ':');
  if (bracketed && end < 0) return "missing ']' in host";
  const port = bracketed ? host.slice(end + 1) : end < 0 ? '' : host.slice(end);
  if (!/^(:[0-9]*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  // Of the escapes in a host, only those of bytes beyond ASCII are taken, and that of the percent
  // sign before the zone of an IPv6 address.
  const name = host.slice(0, host.length - port.length);
  const plain = name.replace(/%(?:25|[89A-Fa-f][0-9A-Fa-f])/g, '');
  const wrong = /[^\w\-.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]/u.exec(plain)?.[0];
  return wrong === undefined
    ? undefined
    : `invalid character ${JSON.stringify(wrong)} in host name`;
}
