/** What a command may touch besides the server: passed in, so that tests can watch it. */

/** An output stream. */
export interface Sink {
  write(text: string): void;
  readonly isTerminal: boolean;
  /** The width of the terminal in columns; undefined if nothing is to be cut. */
  readonly columns: number | undefined;
}

/** What an archive of the state holds. */
export interface ArchiveContent {
  readonly index: number;
  /** The number of objects by type, and of config entries by kind. */
  readonly objects: Readonly<Record<string, number>>;
}

/** The surroundings of a command. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: Sink;
  readonly err: Sink;
  /** Whether the user can be asked: standard input and standard error are terminals. */
  readonly canAsk: boolean;
  readonly home: string;
  readonly version: string;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** From now on the command runs until it is interrupted, or until its reader closes the pipe. */
  endWithReader(): void;
  /** Reads the standard input to its end. */
  input(): Promise<string>;
  /** Asks for a line of text. Rejects when the user interrupts, or ends the input. */
  ask(question: string): Promise<string>;
  /** Asks for lines of text, until the input ends or `signal` is aborted. */
  lines(question: string, signal: AbortSignal): AsyncIterable<string>;
  /** Reads an archive of the state. Rejects if this release cannot read it. */
  archive(file: string): Promise<ArchiveContent>;
  /** Runs a program on this terminal. Resolves to its exit code. */
  run(command: string, args: readonly string[]): Promise<number>;
  /** Runs a line of the shell, with a text as its input. Resolves to its exit code. */
  feed(command: string, input: string): Promise<number>;
}
