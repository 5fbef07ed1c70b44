/** What the build writes about the API: see scripts/documents.ts. */

/** A JSON document. */
export interface Document {
  readonly text: string;
  /** The entity tag of the text. */
  readonly etag: string;
}

/** The OpenAPI document. */
export const OPENAPI: Document;
/** JSON Schemas of bodies by name: `config/<kind>`, the ACL objects, `problem`. */
export const SCHEMAS: Readonly<Record<string, Document>>;
