/** Files in the data folder of a node that other programs look for. */

/** The file of the identity. A data folder has it from its first use on. */
export const IDENTITY_FILE = 'node.json';
/** With an index in it, this file allows another bootstrap. */
export const TOKEN_RESET_FILE = 'acl-bootstrap-reset';
