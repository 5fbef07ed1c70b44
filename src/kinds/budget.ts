/**
 * What one entry may contain. An entry is decoded and checked in one node's loop and applied in
 * every node's, between heartbeats: what is not bounded here holds them up.
 */

/**
 * Items of one list or map. Each costs some 5 µs to decode and check. The same as the links of a
 * token, and as the services that an entry may name.
 */
export const ITEMS_MAX = 2_000;

/**
 * Characters of all filters of an entry together. Parsing takes some 0.5 ms per thousand, in a turn
 * of the loop for each filter: this many take some 30 ms in all.
 */
export const FILTER_LENGTH_MAX = 64 * 1024;
