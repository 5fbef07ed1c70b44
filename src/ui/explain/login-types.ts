/** The answer of the login playground, as far as the page reads it. */
import type { Right } from '../api/types.js';

/** A part of a selector with its result. */
export interface Clause {
  readonly Type: string;
  readonly Text: string;
  readonly Result: boolean;
  readonly Terms?: readonly Clause[];
  readonly Term?: Clause;
  readonly Actual?: unknown;
  readonly Missing?: boolean;
}

/** A binding rule, judged. */
export interface JudgedRule {
  readonly ID: string;
  readonly Description: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly Selector?: string;
  readonly Matches: boolean;
  readonly Clause: Clause | null;
  readonly Name: string | null;
  readonly Effect: string;
  readonly Problem: string;
}

/** What a login comes to. */
export interface LoginExplained {
  readonly AuthMethod: string;
  readonly Outcome: 'granted' | 'refused';
  readonly Reason: string;
  readonly Verified: boolean;
  readonly Checks: readonly {
    readonly Name: string;
    readonly Result: string;
    readonly Detail: string;
  }[];
  readonly Values: Readonly<Record<string, string>>;
  readonly Lists: Readonly<Record<string, readonly string[]>>;
  readonly Missing: { readonly Values: readonly string[]; readonly Lists: readonly string[] };
  readonly Unmapped: readonly string[];
  readonly Rules: readonly JudgedRule[];
  readonly MoreRules: number;
  readonly Token: object | null;
  readonly Rights: readonly Right[] | null;
}
