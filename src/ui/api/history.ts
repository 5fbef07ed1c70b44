/** What the history keeps: who changed what, when and why. */
import type { DiffItem } from './sets.js';

/** Who caused a change. The server itself has no AccessorID. */
export interface Author {
  readonly AccessorID: string;
  readonly Description: string;
  readonly Identity?: { readonly AuthMethod: string; readonly Subject: string };
}

/** What is known of a change. Who caused it is null for those who may not know. */
interface Made {
  readonly Index: number;
  readonly Operation: string;
  readonly Time: string | null;
  readonly Author: Author | null;
  readonly Reason: string;
}

/** One line of the feed. */
export interface FeedLine extends Made {
  readonly Type: string;
  readonly ID: string;
  readonly Name: string;
  readonly Namespace: string;
  readonly Count?: number;
}

/** `GET /v1/history`. */
export interface Feed {
  readonly Index: number;
  readonly Oldest: number;
  readonly OldestTime: string | null;
  readonly Changes: readonly FeedLine[];
  readonly More: boolean;
}

/** A version of an object. */
export interface ObjectVersion extends Made {
  readonly Current: boolean;
}

/** `GET /v1/history/:type/:id`. */
export interface Versions {
  readonly Type: string;
  readonly ID: string;
  readonly Name: string;
  readonly Exists: boolean;
  readonly Versions: readonly ObjectVersion[];
  readonly More: boolean;
}

/** The content of a version; null for a deletion. */
export interface VersionContent {
  readonly Object: Readonly<Record<string, unknown>> | null;
}

/** What differs between two versions. */
export interface VersionDiff {
  readonly Diff: readonly DiffItem[];
}

/** Returns the endpoint of the history of an object. */
export const historyPath = (type: string, id: readonly string[]): string =>
  `/v1/history/${[type, ...id].map(encodeURIComponent).join('/')}`;
