/** The body of a preview of a templated policy. */
import { templateVariables } from '../../state/grants.js';

/** The variables of the template. */
export const PREVIEW_VARIABLES = templateVariables;
