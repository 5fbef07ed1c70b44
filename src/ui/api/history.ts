/** What the history keeps: who changed what, when and why. */
import type { Versions as Answer, Feed } from '../../api/endpoints/history.js';

export type { Feed };
export type FeedLine = Feed['Changes'][number];
/** Who caused a change; null for those who may not know. The server itself has no AccessorID. */
export type Author = FeedLine['Author'];

/** The versions of an object. */
export type Versions = Whole<'Name' | 'Exists' | 'Versions' | 'More'>;
export type ObjectVersion = Versions['Versions'][number];
/** The content of a version; null for a deletion. */
export type VersionContent = Whole<'Object'>;
/** What differs between two versions. */
export type VersionDiff = Whole<'Diff'>;

/** The members that an answer has to a question: one endpoint answers several. */
type Whole<K extends keyof Answer> = Required<Pick<Answer, K>>;

/** Returns the endpoint of the history of an object. */
export const historyPath = (type: string, id: readonly string[]): string =>
  `/v1/history/${[type, ...id].map(encodeURIComponent).join('/')}`;
