/**
 * Limits on the contents of one entry. One node decodes and checks an entry on its event loop, and
 * every node applies it there, between heartbeats: unbounded work would delay the heartbeats.
 */

/**
 * Maximum number of characters in all filters of an entry together. Parsing takes about 0.5 ms per
 * thousand characters, so about 30 ms for this many. Each filter is parsed in its own turn of the
 * event loop.
 */
export const FILTER_LENGTH_MAX = 64 * 1024;
