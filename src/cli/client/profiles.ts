/**
 * Profiles: named clusters, in `profiles.json` in the user's configuration folder. A profile never
 * holds a secret: it names files.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '../files/files.js';
import type { Io } from '../io.js';
import { misused } from '../print/error.js';

/** The settings that a profile may hold. They mean the same as the options of their names. */
export const PROFILE_SETTINGS = [
  'httpAddr',
  'tokenFile',
  'caFile',
  'clientCert',
  'clientKey',
  'tlsServerName',
  'namespace',
  'output',
] as const;

export type ProfileSetting = (typeof PROFILE_SETTINGS)[number];
/** A profile. */
export type Profile = Readonly<Partial<Record<ProfileSetting, string>>>;

/** The content of `profiles.json`. */
export interface Profiles {
  /** The profile that is used if none is named. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;

/** Returns the name of a profile if it is one. Throws otherwise. */
export function profileName(name: string): string {
  if (NAME.test(name)) return name;
  return misused(`"${name}" is not a valid profile name: use letters, digits, ".", "_" and "-"`);
}

/** Returns the folder of the user's configuration of this program. */
function configFolder({ env, home }: Pick<Io, 'env' | 'home'>): string {
  const base = env['XDG_CONFIG_HOME'];
  return join(base !== undefined && base !== '' ? base : join(home, '.config'), 'conclave');
}

/** Returns the file with the token of `conclave login`; each profile has its own. */
export const loginFile = (io: Pick<Io, 'env' | 'home'>, profile?: string): string =>
  join(configFolder(io), profile === undefined ? 'token' : `token-${profile}`);

/** Reads the profiles; none if there is no file. */
export function readProfiles(io: Pick<Io, 'env' | 'home'>): Profiles {
  const path = join(configFolder(io), 'profiles.json');
  if (!existsSync(path)) return { profiles: {} };
  try {
    const read = JSON.parse(readFileSync(path, 'utf8')) as Partial<Profiles>;
    return { ...read, profiles: { ...read.profiles } };
  } catch (error) {
    return misused(`${path}: ${(error as Error).message}`);
  }
}

/** Writes the profiles. */
export const writeProfiles = (io: Pick<Io, 'env' | 'home'>, profiles: Profiles): Promise<void> =>
  writePrivate(join(configFolder(io), 'profiles.json'), `${JSON.stringify(profiles, null, 2)}\n`);
