/** The texts of logins at OpenID providers, and of the end of sessions. */
import { plural } from './change-texts.js';

export const OIDC_TEXT = {
  continueWith: (name: string) => `Continue with ${name}`,
  completing: 'Logging in…',
  handedOver: 'You stay logged in. You can close this window.',
  notBegun: 'This login was not begun in this tab, or was begun again. Log in again.',
  failed: (why: string) => `The provider did not log you in: ${why}`,
  blocked: 'The browser has blocked the window of the login. Allow this page to open windows.',
  over: 'Your session has ended. Log in to continue where you were.',
  ends: (minutes: number) => `Your session ends in ${plural(minutes, 'minute')}`,
  commandAbout: 'In a terminal. It opens a browser, and keeps the token for later commands:',
  stay: 'Stay logged in',
  logInAgain: 'Log in again',
  again: 'Log in to continue where you were, with what you had typed.',
} as const;
