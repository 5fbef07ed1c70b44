/** Loaded into each process that runs suites: the properties use the same examples in every run. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? '1') });
