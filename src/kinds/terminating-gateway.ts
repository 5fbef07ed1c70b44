/** `terminating-gateway`: services outside the mesh that the mesh can reach. */

import { boolean, keep, list, object, omit, text } from '../languages/fields.js';
import { meta, metaProblems } from './common.js';
import { defineKind } from './definition.js';
import { OF_GATEWAY } from './permissions.js';
import { problem } from './problems.js';

const service = object({
  Name: omit(text()),
  CAFile: omit(text(), 'ca_file'),
  CertFile: omit(text(), 'cert_file'),
  KeyFile: omit(text(), 'key_file'),
  SNI: omit(text()),
  DisableAutoHostRewrite: omit(boolean),
});

/** The kind `terminating-gateway`. */
export const terminatingGateway = defineKind(
  'terminating-gateway',
  { Services: keep(list(service)), Meta: omit(meta) },
  {
    permissions: OF_GATEWAY,
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      yield* metaProblems(entry.Meta);
      const seen = new Set<string>();
      for (const [i, one] of (entry.Services ?? []).entries()) {
        const name = JSON.stringify(one.Name ?? '');
        if (one.Name === undefined) {
          yield problem('Service name cannot be blank.', 'Services', i, 'Name');
        }
        if (seen.has(name)) {
          yield problem(
            `Service ${name} was specified more than once within a namespace`,
            'Services',
            i,
            'Name',
          );
        }
        seen.add(name);
        const { CAFile: ca, CertFile: certificate, KeyFile: key } = one;
        const originates = certificate !== undefined || key !== undefined;
        if (originates && [ca, certificate, key].includes(undefined)) {
          yield problem(
            `Service ${name} must have a CertFile, CAFile, and KeyFile specified for TLS origination`,
            'Services',
            i,
          );
        }
      }
    },
  },
);
