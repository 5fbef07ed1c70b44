/**
 * Who caused a command, when and why (beyond.md 0.5). From level 3 on, the member that takes a
 * request adds this to the command before it proposes it.
 */

/** Who is behind the token of a login (beyond.md 7.1). */
export interface Identity {
  /** The name of the auth method, as it is stored. */
  readonly AuthMethod: string;
  /** The namespace of the auth method. */
  readonly Namespace: string;
  /** Whom the method names; empty if it names nobody. */
  readonly Subject: string;
}

/** The token of a request. A login has no token yet, but an identity. */
export interface Author {
  readonly AccessorID: string;
  /** Cut to 128 characters. */
  readonly Description: string;
  /** Absent unless a login made the token. */
  readonly Identity?: Identity;
}

/** The author of what the server does itself. */
export const SERVER: Author = { AccessorID: '', Description: 'server' };
