/** The body of the autopilot configuration. */
import {
  bodyOf,
  boolean,
  computed,
  given,
  text,
  timeToLive,
  whole64,
} from '../../languages/fields.js';

/** The configuration as clients send it. */
export const AUTOPILOT_CONFIGURATION = bodyOf({
  CleanupDeadServers: given('Whether dead servers are removed once others replace them.', boolean),
  LastContactThreshold: given(
    'How long a healthy server may go without contact with the leader.',
    timeToLive,
  ),
  MaxTrailingLogs: given('How many log entries a healthy server may be behind.', whole64),
  MinQuorum: given('How many voters must remain when a dead server is removed.', whole64),
  ServerStabilizationTime: given(
    'How long a new server must be healthy before it may vote.',
    timeToLive,
  ),
  RedundancyZoneTag: given('A setting of another edition. It is stored but has no effect.', text()),
  DisableUpgradeMigration: given(
    'A setting of another edition. It is stored but has no effect.',
    boolean,
  ),
  UpgradeVersionTag: given('A setting of another edition. It is stored but has no effect.', text()),
  CreateIndex: given('The index at which the configuration was created.', computed(whole64)),
  ModifyIndex: given('The index at which the configuration was last changed.', computed(whole64)),
});
