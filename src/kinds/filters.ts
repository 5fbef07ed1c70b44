/** Whether a filter over service instances parses; what it selects is not known here. */
export function filterFault(_expression: string): string | undefined {
  return undefined;
}
