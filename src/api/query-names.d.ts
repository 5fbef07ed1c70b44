/** What the build makes of the operations for each request: see scripts/documents.ts. */

/** The query parameters by path, as routes write it, beside those of all endpoints. */
export const QUERY_NAMES: Readonly<Record<string, readonly string[]>>;
