/** What the build writes: see scripts/blake2b.ts. */

/** The WebAssembly module in base64. */
export const MODULE: string;
