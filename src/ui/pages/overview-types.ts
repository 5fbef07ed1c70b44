/** What the overview reads. */
export type {
  Autopilot,
  Findings as ClusterFindings,
  Level as Levels,
  Server,
} from '../../api/answers/answers.js';
