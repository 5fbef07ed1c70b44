/** How commands end that run a node or look at its files. */

/** Exit codes. */
export const EXIT = { ok: 0, fault: 1, usage: 2, killed: 130 } as const;

/** Prints what is wrong with the settings, and exits. */
export function misused(faults: readonly string[]): never {
  for (const fault of faults) console.error(`conclave: ${fault}`);
  process.exit(EXIT.usage);
}

/** Returns an error as one line for the terminal. */
export function explain(error: unknown): string {
  const { code, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (code === 'EADDRINUSE') return `${address}:${port} is in use by another program`;
  return error instanceof Error ? error.message : String(error);
}
