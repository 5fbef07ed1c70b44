/** The options of `migrate`, checked (moving-in.md 2). */

import type { DifferenceCode } from '../../api/migration-report.js';
import { KINDS } from '../../api/objects.js';
import { didYouMean } from '../../languages/suggest.js';
import { OBJECT_TYPES, type ObjectType, type ReadOptions } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { misused } from '../print/error.js';

/** The options as they are given. */
export interface MigrateOptions {
  readonly from: string;
  readonly fromTokenFile?: string;
  readonly fromCaFile?: string;
  readonly fromClientCert?: string;
  readonly fromClientKey?: string;
  readonly fromTlsServerName?: string;
  readonly fromSecondary?: boolean;
  readonly dryRun?: boolean;
  readonly withSecrets?: boolean;
  readonly newSecrets?: string;
  readonly loginTokens: string;
  readonly namespaces: string;
  readonly only?: string;
  readonly kinds?: string;
  readonly mend?: boolean;
  readonly force?: boolean;
  readonly ask: string;
  readonly accept?: string;
  readonly watch?: boolean;
  readonly poll: number;
  readonly finish?: boolean;
  readonly metricsFile?: string;
  readonly rate: number;
  readonly report?: string;
  readonly yes?: boolean;
}

/** How a migration runs. */
export interface Plan {
  readonly read: Omit<ReadOptions, 'clock' | 'rate' | 'before'>;
  readonly loginTokens: boolean;
  /** How many tokens of each grant class are asked live. */
  readonly asked: number;
  readonly accept: ReadonlySet<DifferenceCode>;
}

const ACCEPTABLE: readonly DifferenceCode[] = ['rights_add_up', 'anonymous_operator'];

/** Checks the options that depend on each other or are lists. Throws CliError. */
export function planOf({ options, io, print }: Call<MigrateOptions>): Plan {
  const { dryRun, watch, finish, withSecrets, newSecrets, yes, namespaces, ask } = options;
  const isPart = options.only !== undefined || options.kinds !== undefined;
  if (!['table', 'json'].includes(print.format)) misused('--output: this takes table or json');
  if (dryRun === true && (watch === true || finish === true))
    misused('--dry-run cannot be used with --watch or --finish');
  if (watch === true && finish === true) misused('--watch and --finish cannot be used together');
  if (finish === true && isPart) misused('--finish cannot be used with --only or --kinds');
  if (newSecrets !== undefined && withSecrets !== true)
    misused('--new-secrets is for --with-secrets');
  if (options.metricsFile !== undefined && watch !== true) misused('--metrics-file is for --watch');
  if (yes !== true && dryRun !== true && !io.canAsk)
    misused('--yes is required without a terminal');
  if (!['yes', 'no'].includes(options.loginTokens)) misused('--login-tokens takes yes or no');
  if (options.rate < 1) misused('--rate must be at least 1');
  const only = listOf('--only', options.only, OBJECT_TYPES) as readonly ObjectType[] | undefined;
  const known = KINDS.map(({ kind }) => kind);
  const kinds = listOf('--kinds', options.kinds, known);
  const isWord = namespaces === 'all' || namespaces === 'none';
  return {
    read: {
      namespaces: isWord ? namespaces : namespaces.split(',').map((one) => one.trim()),
      ...(only !== undefined && { only }),
      ...(kinds !== undefined && { kinds }),
      ...(watch === true && { mayMove: true }),
      ...(options.fromSecondary === true && { fromSecondary: true }),
    },
    loginTokens: options.loginTokens === 'yes',
    asked: finish === true ? Number.POSITIVE_INFINITY : askedOf(ask),
    accept: new Set(listOf('--accept', options.accept, ACCEPTABLE) as DifferenceCode[] | undefined),
  };
}

function askedOf(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (text === 'none') return 0;
  return /^\d{1,9}$/.test(text) ? Number(text) : misused('--ask takes all, none or a number');
}

function listOf(
  option: string,
  text: string | undefined,
  known: readonly string[],
): readonly string[] | undefined {
  const words = text?.split(',').map((word) => word.trim());
  const unknown = words?.find((word) => !known.includes(word));
  if (unknown !== undefined)
    misused(
      `${option}: "${unknown}" is not one of ${known.join(', ')}${didYouMean(unknown, known)}`,
    );
  return words;
}
