/** The answer of the login playground. */
export type { Clause, JudgedRule, LoginExplained } from '../../api/answers/answers.js';
