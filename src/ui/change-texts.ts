/** The texts about changes: reviews, deletions, conflicts, plans and the history. */

/** Returns a count with its noun. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export const CHANGE_TEXT = {
  review: {
    title: 'Review changes',
    nothing: 'There are no changes.',
    planning: 'Comparing with what is stored…',
    lacking:
      'The cluster is being upgraded and cannot plan yet. ' +
      'What the change does to tokens and to other objects is not known.',
    apply: 'Apply',
    back: 'Back',
    reason: 'Reason',
    reasonHelp: 'Why you do this. The history keeps it. It may be empty.',
    again: 'Something has changed meanwhile, and nothing was written. This is the new plan.',
  },
  remove: {
    title: (name: string) => `Delete ${name}`,
    final: 'This cannot be undone.',
    kept: 'The history can undo this.',
    about: {
      policy: 'Who links to it loses the rights that it grants.',
      role: 'Who links to it loses the rights that it grants.',
      token: 'Who uses it is refused from now on.',
      method: 'Nobody can log in with it any more. The tokens of its logins are deleted with it.',
      rule: 'Later logins get nothing from it. Tokens that exist keep what they have.',
      namespace: 'Everything in it is deleted with it.',
      entry: 'The server refuses it while another entry needs this one.',
    },
    confirm: 'Delete',
    cancel: 'Cancel',
  },
  refs: {
    title: 'Used by',
    none: 'Nothing refers to it.',
    filtered: 'There may be more that you may not read.',
    used: (count: number, types: string, names: readonly string[]) => {
      const others = count - names.length;
      const more = others <= 0 ? '' : ` and ${others.toLocaleString('en')} more`;
      const all = count.toLocaleString('en');
      return `${types} that link to it: ${all} (${names.join(', ')}${more}).`;
    },
    removed: (counts: readonly string[]) => `Deleted with it: ${counts.join(', ')}.`,
    loses: (count: number, isAtLeast: boolean) =>
      `${isAtLeast ? 'At least ' : ''}${plural(count, 'token')} ${
        count === 1 ? 'loses' : 'lose'
      } rights.`,
  },
  conflict: {
    title: 'Changed meanwhile.',
    about: 'Somebody saved another version after you opened this one. They changed:',
    theirs: 'Go on from theirs',
    mine: 'Keep mine and review',
    fits: 'Your changes do not conflict with theirs: both are kept.',
    collides: 'You both changed the following. Choose which version to keep:',
    keepMine: 'Mine',
    keepTheirs: 'Theirs',
    yours: 'Your text, to compare with the version above',
  },
  diff: { title: 'Differences', added: 'added:', removed: 'removed:' },
  plan: {
    about: 'See what a set of objects would change, and change all of it at once.',
    set: 'Set',
    setHelp:
      'JSON with Objects, Delete, Owner, Prune or Assert, such as an answer of GET /v1/export.',
    file: 'Open a file',
    plan: 'Plan',
    applied: (count: number, index: number) =>
      count === 0 ? 'Nothing was to be changed' : `${plural(count, 'change')} at index ${index}`,
    summary: (counts: readonly string[]) => `The plan: ${counts.join(', ')}.`,
    actions: {
      create: 'create',
      update: 'update',
      delete: 'delete',
      unchanged: 'leave',
      hidden: 'not readable',
    },
    whole: 'It has no content that differs.',
    cut: 'Only the beginning of this value is shown.',
    more: (count: number) => `${plural(count, 'more change')} not shown.`,
    notAllowed: 'Your token may not apply this change.',
    problems: 'This cannot be applied',
    warnings: 'Warnings',
    asserts: 'Assertions',
    passed: 'Passed.',
    failed: 'Failed.',
    parts: (count: number) =>
      `This is too much for one entry. Apply it in ${count} parts: conclave apply --in-parts.`,
  },
  impact: {
    title: 'Tokens whose rights change',
    none: 'No token gains or loses a right.',
    hidden: 'Tokens that you may not read are left out: that requires acl:read.',
    truncated: 'There may be more tokens and rights than are shown.',
    tokens: (count: number) => plural(count, 'token'),
    removed: 'deleted',
    gains: 'Gains',
    loses: 'Loses',
    nothing: 'nothing',
    change: (before: string, after: string) => `${before} → ${after}`,
    within: (ns: string) => ` in the namespace ${ns}`,
  },
  history: {
    about: 'Who changed what, when and why.',
    title: (name: string) => `History of ${name}`,
    logins: 'Show logins',
    columns: ['When', 'Who', 'What', 'Why'],
    undoColumn: 'Undo',
    empty: 'No changes are kept yet. The history begins once all servers run this release.',
    since: 'Older changes are no longer kept. The oldest is from',
    more: 'Show more',
    versions: 'Versions',
    version: (index: number) => `index ${index}`,
    current: 'current',
    from: 'From',
    to: 'To',
    compare: 'Compare',
    same: 'These versions do not differ.',
    goBack: 'Go back to this version',
    undo: 'Undo this change',
    requires: (right: string) => `Requires ${right}`,
    explain: 'Explain at this moment',
    object: 'Open the object',
    all: 'All versions',
    section: 'History',
    server: 'the server',
    unknown: 'unknown',
    identity: (subject: string, method: string) => `${subject} (${method})`,
    count: (count: number) => ` (${plural(count, 'token')})`,
  },
  moment: {
    at: 'At',
    help: 'An index of the history, or a time such as 2026-11-03T14:05:00Z. If empty, now.',
    show: 'Show',
    asOf: (index: number) => `As of index ${index}`,
    titled: (at: string) => `as of ${at}`,
    oldest: (index: number) => `The oldest moment that can be asked for is index ${index}`,
    loginsSince: (index: number) =>
      `Tokens of logins that ended before index ${index} are not known.`,
    version: (index: number) => ` (version ${index})`,
  },
} as const;
