/** The index keys of what entries name; see references.ts. */

/** Builds the index key of a target. Names match in any letter case. */
export const target = {
  service: (name: string): string => `service ${name.toLowerCase()}`,
  gateway: (name: string): string => `api-gateway ${name.toLowerCase()}`,
  provider: (name: string): string => `jwt-provider ${name.toLowerCase()}`,
  certificate: (kind: string, name: string): string => `${kind} ${name.toLowerCase()}`,
};
