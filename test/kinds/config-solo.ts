/** A Solo that also serves config entries. */
import { configRoutes } from '../../src/http/routes/config-entries.js';
import { configCheck } from '../../src/service/config/config-entries.js';
import { makeGate } from '../../src/service/rights/gate.js';
import { configHandlers } from '../../src/state/config.js';
import { Machine } from '../../src/state/machine.js';
import { ACL_HANDLERS } from '../../src/state/objects.js';
import { serve } from '../service/serve.js';
import { Solo } from '../service/solo.js';

export class ConfigSolo extends Solo {
  override readonly machine = new Machine(this.store, { ...ACL_HANDLERS, ...configHandlers });
  override readonly gate = makeGate(this.authorizers, { config: configCheck });

  constructor(defaultPolicy: 'deny' | 'allow' = 'deny') {
    super(defaultPolicy);
    this.machine.onChanged((keys) => {
      this.authorizers.changed(keys);
      this.watches.changed(keys);
    });
  }
}

/** The front end of a ConfigSolo, with the routes of config entries. */
export const serveConfig = (solo: ConfigSolo) =>
  serve(solo, configRoutes({ service: solo.service, datacenter: 'dc1' }));
