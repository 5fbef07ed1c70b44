/** Responses for connections on which no request was read. */

/**
 * Returns a whole response that closes its connection. `message` is ASCII, without a newline at its
 * end. `headers` end with a line break each.
 */
export const plainResponse = (status: string, message: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
  `Content-Length: ${message.length + 1}\r\n${headers}Connection: close\r\n\r\n${message}\n`;
