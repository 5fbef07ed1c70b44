/** The texts of the page of decisions. */

/** Types of subjects that every server knows. */
export const SUBJECT_TYPES = ['token', 'token_secret', 'jwt', 'identity', 'role'] as const;

/** Part of `TEXT`. */
export const DECISION_TEXT = {
  about: 'Ask what programs ask: may a subject do something?',
  ask: 'Question',
  subjectType: 'Subject type',
  subjectTypeHelp: 'A type of this server or, of the ACL configuration, one of SubjectTypes.',
  subjectId: 'Subject id',
  subjectIdHelp: {
    token: 'An AccessorID, or self.',
    token_secret: 'A SecretID. It is sent with the question and kept nowhere.',
    jwt: 'A JWT. It is sent with the question and kept nowhere.',
    identity: 'AUTH-METHOD/SUBJECT.',
    role: 'The name of a role.',
  } as Readonly<Record<string, string>>,
  method: 'Auth method',
  methodHelp: 'For a jwt: the method that would check it.',
  action: 'Action',
  actionHelp: 'read, write, or an action of an application.',
  resourceType: 'Resource type',
  resourceTypeHelp: 'Such as service, or orders of an application.',
  resourceId: 'Resource id',
  namespace: 'Namespace',
  namespaceHelp: 'Of the resource. If empty, that of the subject.',
  decide: 'Decide',
  who: 'Who may do this?',
  what: 'What may this subject do?',
  allowed: 'Allowed',
  denied: 'Denied',
  noReason: 'The server tells no reason.',
  forPrograms: 'For programs',
  request: 'Request',
  answer: 'Answer',
  curl: 'curl',
  scrolls: (title: string) => `${title} (scrolls sideways)`,
  whoTitle: 'Who may do this',
  whoColumns: ['Type', 'Id', 'Description', 'Namespace'],
  whatTitle: 'What this subject may do',
  whatColumns: ['Decision', 'Action', 'Id'],
  allow: 'allow',
  deny: 'deny',
  nobody: 'Nobody whom you may see.',
  nothing: 'No rule allows anything.',
  truncated: 'Not all is shown.',
} as const;
