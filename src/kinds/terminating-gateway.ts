/** `terminating-gateway`: services outside the mesh that the mesh can reach. */

import { always, boolean, list, neededText, nonEmpty, object, text } from '../languages/fields.js';
import { all, any, rule, ruled, set, when } from '../languages/rules.js';
import { metaField, metaProblems } from './common.js';
import { defineKind } from './definition.js';
import { OF_GATEWAY } from './permissions.js';
import { problem } from './problems.js';

const wholeOrigination = rule(
  'CertFile and KeyFile need each other and CAFile.',
  when(any(set('CertFile'), set('KeyFile')), all(set('CAFile'), set('CertFile'), set('KeyFile'))),
);
const service = object({
  Name: nonEmpty('The name of the service, or `*` for all services.', neededText),
  CAFile: nonEmpty('The CA file used to verify the service.', text(), 'ca_file'),
  CertFile: nonEmpty('The file of the certificate that the gateway presents.', text(), 'cert_file'),
  KeyFile: nonEmpty('The file of the private key of that certificate.', text(), 'key_file'),
  SNI: nonEmpty('The TLS server name that the gateway sends.', text()),
  DisableAutoHostRewrite: nonEmpty('Whether the host of requests is left unchanged.', boolean),
});

export const terminatingGateway = defineKind(
  'terminating-gateway',
  {
    Services: always(
      'The services behind the gateway.',
      list(ruled(service, wholeOrigination), { unique: true }),
    ),
    Meta: metaField,
  },
  {
    description: 'Services outside the mesh that the mesh can reach.',
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
        if (!wholeOrigination.holds(one)) {
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
