/** The texts of logins at OpenID providers, and of the end of sessions. */
import { plural } from './change-texts.js';

export const OIDC_TEXT = {
  continueWith: (name: string) => `Continue with ${name}`,
  completing: 'Logging in…',
  handedOver: 'You are still logged in. You can close this window.',
  notBegun: 'This login was started in another tab, or was started again. Log in again.',
  failed: (why: string) => `The provider did not log you in: ${why}`,
  blocked: 'The browser blocked the login window. Allow pop-ups for this page, and try again.',
  over: 'Your session has ended. Log in to continue where you left off.',
  ends: (minutes: number) => `Your session ends in ${plural(minutes, 'minute')}`,
  commandAbout: 'In a terminal. This opens a browser, and keeps the token for later commands:',
  stay: 'Stay logged in',
  logInAgain: 'Log in again',
  again: 'Log in to continue where you left off. What you typed is kept.',
} as const;
