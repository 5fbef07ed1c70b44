/**
 * Whether a text is part of another, in time linear in both. What the engine has for it takes a
 * step per pair of characters on texts that are made for it, thousands of times as long.
 */

/** Shorter ones the engine itself finds in a few steps per character. */
const LONG = 8;

/** Tests whether a text holds `wanted`. */
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
 * For each beginning of `wanted` the length of the longest shorter one that it ends with (Knuth,
 * Morris, Pratt).
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
