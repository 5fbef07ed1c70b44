/** Questions about rights that no report has chosen, put to both servers. */
import type { Random } from '../../cluster/checker/random.js';
import { NAMED, SCALARS } from '../../src/acl/types.js';
import type { RightsDifference } from '../../src/api/migration-report.js';
import { send } from '../support/client.js';
import type { RealSource } from './real-source.js';
import type { Moving } from './running.js';

/** A question to `POST /v1/internal/acl/authorize`. */
interface Question {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment: string;
}

const SEGMENTS = [
  '',
  'a',
  'ab',
  'abc',
  'a/',
  'a/b',
  'a/bc',
  'web',
  'web-',
  'web-1',
  'db',
  'node-1',
];
const ODD_SEGMENTS = ['ü', 'üü', '"', '\\', '<b>', '💥', 'a b', "it's", 'z', '*'];
/** The names of services end with a number below it. */
const POLICIES = 200;
/** What one call takes. */
const CALL_MAX = 64;

/** Returns questions at random: all about resources without names, some about each other one. */
function questionsAt(random: Random): Question[] {
  const scalars = SCALARS.flatMap((Resource) =>
    ['read', 'write'].map((Access) => ({ Resource, Access, Segment: '' })),
  );
  const named = [...NAMED, 'intention'].flatMap((Resource) => {
    const accesses =
      Resource === 'key' ? ['read', 'list', 'write', 'write-prefix'] : ['read', 'write'];
    const isService = Resource === 'service' || Resource === 'intention';
    const endings = isService ? SEGMENTS.map((one) => `${one}.${random.int(POLICIES)}`) : [];
    const all = random.shuffle([...SEGMENTS, ...ODD_SEGMENTS, ...endings]).slice(0, 8);
    const segments = Resource === 'intention' ? all : all.filter((one) => one !== '*');
    return segments.flatMap((Segment) => accesses.map((Access) => ({ Resource, Access, Segment })));
  });
  return [...scalars, ...named];
}

/** Returns the answers of a server to a token, in the order of the questions. */
async function answersOf(
  url: string,
  token: string,
  questions: readonly Question[],
): Promise<boolean[]> {
  const answers: boolean[] = [];
  for (let at = 0; at < questions.length; at += CALL_MAX) {
    const body = JSON.stringify(questions.slice(at, at + CALL_MAX));
    const headers = { 'X-Consul-Token': token, 'X-Service-Token': token };
    const call = 'POST /v1/internal/acl/authorize';
    const { status, text } = await send(url, call, { headers, body });
    if (status !== 200) throw new Error(`${call}: ${status} ${text}`);
    answers.push(...(JSON.parse(text) as { Allow: boolean }[]).map(({ Allow }) => Allow));
  }
  return answers;
}

/** A question that both sides answer differently. */
interface Differing extends Question {
  readonly AccessorID: string;
  readonly Allow: boolean;
}

/** Asks both sides about all tokens that both have. Returns what they answer differently. */
export async function differing(
  moving: Moving<RealSource>,
  random: Random,
): Promise<{ readonly tokens: number; readonly found: Differing[] }> {
  const { source, cluster } = moving;
  const here = new Set(
    ((await cluster.must('GET /acl/tokens')) as { AccessorID: string }[]).map(
      ({ AccessorID }) => AccessorID,
    ),
  );
  const all = (await source.must('GET /acl/tokens')) as { AccessorID: string; SecretID: string }[];
  const both = all.filter(({ AccessorID }) => here.has(AccessorID));
  const found: Differing[] = [];
  for (const { AccessorID, SecretID } of both) {
    const questions = questionsAt(random);
    const there = await answersOf(source.url, SecretID, questions);
    const ours = await answersOf(cluster.url, SecretID, questions);
    for (const [at, question] of questions.entries())
      if (there[at] !== ours[at]) found.push({ ...question, AccessorID, Allow: there[at]! });
  }
  return { tokens: both.length, found };
}

/** Returns what a report does not say of questions that both sides answer differently. */
export const unsaid = (
  known: readonly RightsDifference[],
  found: readonly Differing[],
): readonly Differing[] =>
  found.filter(
    ({ Resource, Access, Allow, AccessorID }) =>
      !known.some(
        (one) =>
          one.Resource === Resource &&
          one.Access === Access &&
          one.Source.Allow === Allow &&
          (one.Sample.includes(AccessorID) || one.Tokens > one.Sample.length),
      ),
  );
