/** The findings of `npm run tidy`, and how they are compared with the accepted figures. */

/** One place that breaks a rule. */
export interface Finding {
  readonly rule: string;
  /** `path:line`, or a path. */
  readonly at: string;
  readonly message: string;
  /** What is counted together under one figure of the ratchet: a file, a function or a layer. */
  readonly bucket: string;
  /** The size, for a rule that measures instead of counting. The largest of a bucket counts. */
  readonly size?: number;
}

/** Rule → bucket → how much of it is accepted. */
export type Ratchet = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Returns the figure of each bucket: the number of findings, or the largest size. */
export function figures(findings: readonly Finding[]): Ratchet {
  const sums: Record<string, Record<string, number>> = {};
  for (const { rule, bucket, size } of findings) {
    sums[rule] ??= {};
    const before = sums[rule][bucket] ?? 0;
    sums[rule][bucket] = size === undefined ? before + 1 : Math.max(before, size);
  }
  return sums;
}

/** Returns the findings of every bucket that has more than the ratchet accepts. */
export function beyond(findings: readonly Finding[], accepted: Ratchet): Finding[] {
  const now = figures(findings);
  return findings.filter(
    ({ rule, bucket }) => now[rule]![bucket]! > (accepted[rule]?.[bucket] ?? 0),
  );
}

/** Returns the accepted figures, lowered to the present ones. Drops those without findings. */
export function lowered(findings: readonly Finding[], accepted: Ratchet): Ratchet {
  const now = figures(findings);
  return Object.fromEntries(
    Object.entries(accepted).flatMap(([rule, buckets]) => {
      const kept = Object.entries(buckets).flatMap(([bucket, figure]) => {
        const least = Math.min(figure, now[rule]?.[bucket] ?? 0);
        return least > 0 ? [[bucket, least] as const] : [];
      });
      return kept.length > 0 ? [[rule, Object.fromEntries(kept)]] : [];
    }),
  );
}
