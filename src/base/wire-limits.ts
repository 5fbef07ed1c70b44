/** What one message between members can carry. */

/** Bytes of a frame. */
export const FRAME_BYTES_MAX = 16 * 2 ** 20;

/**
 * Bytes of an encoded command. A command is never split: it travels whole in a forwarded write and
 * in an append message, so it must fit into a frame with the fields around it. A follower closes
 * the connection on a larger frame, and the leader would send the same one for ever.
 */
export const COMMAND_BYTES_MAX = FRAME_BYTES_MAX - 2 ** 16;

/** Characters of a text in a frame, such as the name or address of a member. */
export const TEXT_MAX = 1024;
