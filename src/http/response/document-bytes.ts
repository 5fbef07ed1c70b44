/** The bytes of documents that nodes answer, made once. */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Document } from '../../api/documents.js';

const compress = promisify(gzip);

interface DocumentBytes {
  readonly body: Buffer;
  readonly packed: Promise<Buffer>;
}

const kept = new WeakMap<Document, DocumentBytes>();

/** Returns the bytes of a document, which ends with a newline. */
export function bytesOf(document: Document): DocumentBytes {
  let bytes = kept.get(document);
  if (bytes === undefined) {
    const body = Buffer.from(document.text);
    const packed = compress(body, { level: constants.Z_BEST_COMPRESSION });
    packed.catch(() => kept.delete(document));
    bytes = { body, packed };
    kept.set(document, bytes);
  }
  return bytes;
}
