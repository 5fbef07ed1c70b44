/** The walk that docs/ui.md describes. */
import { describePages } from './stage.js';
import { walk } from './walk.js';

describePages('a first walk through the web UI', 3, (stage) => {
  it('leads from a policy to a refused login, its reason, and a mended rule', () =>
    walk(stage, async () => {}));
});
