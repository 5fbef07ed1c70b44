/**
 * Makes clients/vectors.json, by which every library of clients is tested: feeds of rights with
 * questions, and what enforcement answers to them.
 */
import fc from 'fast-check';
import { bothOf, enforced, holdings, QUESTIONS } from '../acl/feed-law.js';
import { decide, type Question } from './decide.js';
import { type Case, WRITTEN } from './written-vectors.js';

const SEED = 1;
/** Random cases, and the questions of each: few of many, so that together they ask all. */
const CASES = 2_000;
const QUESTIONS_PER_CASE = 50;
/** One random case in so many says where its rules come from. */
const SOURCES_EVERY = 8;

/** Returns the text of the file: one case in a line. */
export function vectors(): string {
  const cases = [...WRITTEN, ...randomCases()].map(lineOf);
  return `{"Version":1,"Seed":${SEED},"Cases":[\n${cases.join(',\n')}\n]}\n`;
}

function randomCases(): readonly Case[] {
  const { length } = QUESTIONS;
  const order = fc.shuffledSubarray([...QUESTIONS], { minLength: length, maxLength: length });
  const [shuffled = []] = fc.sample(order, { seed: SEED, numRuns: 1 });
  const asked = (at: number): Question => shuffled[at % length]!;
  return fc.sample(holdings, { seed: SEED, numRuns: CASES }).map((holding, n) => ({
    name: `random ${n}`,
    holding,
    withSources: n % SOURCES_EVERY === 0,
    questions: Array.from({ length: QUESTIONS_PER_CASE }, (_, k) =>
      asked(n * QUESTIONS_PER_CASE + k),
    ),
  }));
}

function lineOf({ name, holding, withSources = false, questions, change }: Case): string {
  const { authorizer, text } = bothOf(holding, withSources);
  const { anonymous } = holding;
  const head = {
    Version: 1,
    AccessorID: 'a',
    Namespace: 'default',
    Anonymous: anonymous,
    Index: 1,
  };
  const rights = { ...head, ...JSON.parse(text) };
  change?.(rights);
  const answered = questions.flatMap((question) => {
    const allow = enforced(authorizer, question);
    // the exception of write-prefix is the server's
    return decide(rights, question) === allow ? [[...question, allow]] : [];
  });
  return JSON.stringify({ Name: name, Rights: rights, Questions: answered });
}
