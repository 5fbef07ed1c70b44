/** The checks that the build makes with ajv from the JSON schemas: see scripts/validators.ts. */
import type { ValidateFunction } from 'ajv';

/** Checks a configuration file: the type, bounds and form of each setting. */
export const validateSettings: ValidateFunction;
/** Checks the variables of a templated policy against `NAME_SCHEMA`. */
export const validateVariables: ValidateFunction;
