/**
 * Substring search in linear time. `String.includes` takes quadratic time on adversarial texts,
 * which is thousands of times slower.
 */

/** Minimum length for which the search below is used. `includes` is fast for shorter ones. */
const LONG = 8;

/** Returns a test of whether a text contains `wanted`. */
export function searcher(wanted: string): (text: string) => boolean {
  if (wanted.length < LONG) return (text) => text.includes(wanted);
  const fallback = fallbacks(wanted);
  return (text) => {
    let matched = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = fallback[matched - 1]!;
      if (wanted.charCodeAt(matched) === code) matched += 1;
      if (matched === wanted.length) return true;
    }
    return false;
  };
}

/**
 * The failure function of Knuth, Morris and Pratt: for each prefix of `wanted`, the length of its
 * longest proper prefix that is also its suffix. For `abcab` it is 0 0 0 1 2.
 */
function fallbacks(wanted: string): Uint32Array {
  const fallback = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const code = wanted.charCodeAt(at);
    while (length > 0 && wanted.charCodeAt(length) !== code) length = fallback[length - 1]!;
    if (wanted.charCodeAt(length) === code) length += 1;
    fallback[at] = length;
  }
  return fallback;
}
