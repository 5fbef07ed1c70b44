/** The texts of the page about a migration. */
import { plural } from './change-texts.js';

const many = (count: number): string => count.toLocaleString('en');

export const MIGRATION_TEXT = {
  about: 'What conclave migrate found, object by object. The report is read here and sent nowhere.',
  file: 'Report',
  fileHelp:
    'The file that conclave migrate --report FILE writes. It can be dropped anywhere on this page.',
  problems: {
    tooLarge: (limit: string) => `The file is larger than ${limit}, the most that this page reads.`,
    noJson: 'The file is not JSON. Write it with conclave migrate --report FILE.',
    noReport: 'The file is JSON, but no report of conclave migrate.',
    version: (found: string) => `The report has version ${found}. This page reads version 1.`,
    broken: (pointer: string) => `The report is damaged at ${pointer}.`,
  },
  exits: {
    0: 'Everything is here, and rights are equal.',
    1: 'Nothing was written: the problems below must be solved first.',
    3: 'There is something to write. Run the command without --dry-run.',
    4: 'Some of it has no counterpart here. Read the findings.',
    5: 'Some tokens may do something else here than there. Read the differences before you switch.',
  } as Readonly<Record<number, string>>,
  exit: (code: number) => `The command ended with ${code}.`,
  dryRun: 'A dry run: nothing was written.',
  from: 'From',
  to: 'To',
  time: 'Time',
  result: 'Result',
  source: (address: string, version: string | undefined) =>
    version === undefined ? address : `${address}, release ${version}`,
  datacenter: (name: string, policy: string) => `datacenter ${name}, default policy ${policy}`,
  unknown: 'unknown',
  index: (index: number, level: number) => `index ${index}, level ${level}`,
  types: 'Objects',
  typeColumns: ['Type', 'Source', 'Same', 'Create', 'Update', 'Delete', 'Left out'],
  blocked: 'What keeps it from being written',
  blockedColumns: ['Object', 'Problem', 'Why'],
  findings: 'Findings',
  findingColumns: ['Object', 'Finding', 'Lost', 'What to do'],
  code: 'Code',
  all: 'all',
  nothing: 'No finding matches.',
  noFindings: 'Everything has its counterpart here.',
  found: (shown: number, all: number) => `${many(shown)} of ${many(all)} findings`,
  more: (left: number) => `Show more (${many(left)} left)`,
  place: (line: number | undefined, column: number | undefined) =>
    line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}`,
  leftOut: 'left out',
  mended: 'The text that grants the same here',
  rights: 'Rights',
  compared: (tokens: number, classes: number, questions: number) =>
    `${many(tokens)} tokens, granted alike in ${many(classes)} ways, ` +
    `were compared by ${many(questions)} questions to each side.`,
  asked: (tokens: number, questions: number) =>
    `${many(questions)} questions about ${many(tokens)} tokens were asked of both servers.`,
  equal: 'All have the same answer on both sides.',
  accepted: 'Apart from accepted differences, all have the same answer on both sides.',
  differ: 'Some have another answer here.',
  notCompared: 'Rights were not compared.',
  differenceColumns: ['Tokens', 'Question', 'There', 'Here', 'Why they differ'],
  allowed: 'allowed',
  denied: 'denied',
  codes: {
    rights_add_up: 'rights of several holders add up here',
    anonymous_operator: 'the anonymous token never has operator rights here',
    default_policy: 'the default policies differ',
    left_out: 'follows from what is left out',
    reading: 'the source decides otherwise than its rules read',
    unexplained: 'no known reason: look into it before you switch',
  } as Readonly<Record<string, string>>,
  moreDifferences: (count: number) => `${many(count)} more differences are not in the report.`,
  question: (resource: string, access: string, segment: string, ns: string) =>
    `${resource}:${access}${segment === '' ? '' : ` on "${segment}"`} in ${ns}`,
  why: 'Why here',
  tokens: (count: number) => plural(count, 'token'),
  writers: 'Tokens that must not write at the source after the switch',
  writerColumns: ['Token', 'Description', 'Rights'],
} as const;
