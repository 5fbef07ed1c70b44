/**
 * `npm run law -- --questions N [--seed S]`: asks the feed of random rights and enforcement the
 * same questions. Exits with 1 if they differ.
 */
import { parseArgs } from 'node:util';
import { checkLaw } from '../test/acl/feed-law.js';

const { values } = parseArgs({
  options: {
    questions: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
  },
});
const began = performance.now();
checkLaw(Number(values.questions), Number(values.seed));
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(`${values.questions} questions in ${seconds} s: the feed and enforcement agree`);
