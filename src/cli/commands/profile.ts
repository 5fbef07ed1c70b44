/** `profile`. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Call, Cli } from '../cli.js';
import {
  loginFile,
  PROFILE_SETTINGS,
  type Profile,
  type ProfileSetting,
  type Profiles,
  profileName,
  readProfiles,
  writeProfiles,
} from '../client/profiles.js';
import { dropRenewal } from '../client/renewal.js';
import type { Io } from '../io.js';
import { misused } from '../print/error.js';
import type { Shape } from '../print/output.js';

interface Named extends Profile {
  readonly name: string;
  readonly isCurrent: boolean;
}

const shape: Shape<Named> = {
  columns: [
    { head: '', cell: ({ isCurrent }) => (isCurrent ? { text: '*', paint: 'green' } : '') },
    { head: 'NAME', isWhole: true, cell: ({ name }) => name },
    { head: 'ADDRESSES', isWhole: true, cell: ({ httpAddr }) => httpAddr ?? '' },
    { head: 'NAMESPACE', cell: ({ namespace }) => namespace ?? '' },
    { head: 'TOKEN FILE', isMinor: true, cell: ({ tokenFile }) => tokenFile ?? '' },
  ],
  fields: (one) => [
    ['name', one.name],
    ...PROFILE_SETTINGS.map((setting) => [setting, one[setting] ?? ''] as const),
  ],
  ref: ({ name }) => `profile/${name}`,
};

const listed = ({ current, profiles }: Profiles): Named[] =>
  Object.entries(profiles).map(([name, profile]) => ({
    name,
    isCurrent: name === current,
    ...profile,
  }));

/** The commands read and write the user's own file, and ask no server. */
export function addProfile(program: Command, cli: Cli): void {
  const profile = program
    .command('profile')
    .description('named clusters: addresses, files and namespace; never a secret');
  profile
    .command('list')
    .alias('ls')
    .description('list the profiles; * marks the current one')
    .action(cli.action((call) => call.print.list(listed(readProfiles(call.io)), shape)));
  profile
    .command('set')
    .description('create or change a profile from the options of this command')
    .argument('<name>', 'its name')
    .action(cli.action((call, name) => setProfile(call, profileName(name!))));
  profile
    .command('use')
    .description('make a profile the current one; - for none')
    .argument('<name>', 'its name')
    .action(
      cli.action(async ({ io, print }, name) => {
        const { profiles } = readProfiles(io);
        if (name !== '-') mustExist(profiles, name!);
        await writeProfiles(io, { ...(name !== '-' && { current: name! }), profiles });
        print.note(name === '-' ? 'there is no current profile' : `${name} is the current profile`);
      }),
    );
  profile
    .command('delete')
    .alias('rm')
    .description('delete a profile')
    .argument('<name>', 'its name')
    .action(
      cli.action(async ({ io, print }, name) => {
        const { current, profiles } = readProfiles(io);
        mustExist(profiles, name!);
        const { [name!]: _, ...others } = profiles;
        const stays = current !== undefined && current !== name;
        await writeProfiles(io, { ...(stays && { current }), profiles: others });
        await forgetLogin(io, name!, (text) => print.note(text));
        await print.done('deleted', `profile/${name}`, true);
      }),
    );
}

function mustExist(profiles: Profiles['profiles'], name: string): void {
  if (!Object.hasOwn(profiles, name))
    misused(`there is no profile "${name}"`, 'run conclave profile list to see the profiles');
}

/** Removes the token of a profile's login: another profile of that name must not send it. */
async function forgetLogin(io: Io, name: string, note: (text: string) => void): Promise<void> {
  const file = loginFile(io, name);
  await dropRenewal(file);
  if (!existsSync(file)) return;
  await rm(file);
  note(`removed ${file}; the token of that login stays valid until it expires or is deleted`);
}

const FILES: readonly ProfileSetting[] = ['tokenFile', 'caFile', 'clientCert', 'clientKey'];

async function setProfile({ io, options, print }: Call<object>, name: string): Promise<void> {
  const { current, profiles } = readProfiles(io);
  const given = PROFILE_SETTINGS.flatMap((setting) => {
    const value = setting === 'httpAddr' ? (options.httpAddr ?? options.url) : options[setting];
    if (value === undefined) return [];
    // The profile is used in other folders, too.
    return [[setting, FILES.includes(setting) ? resolve(value) : value] as const];
  });
  if (given.length === 0)
    misused(
      'give at least one setting of the profile',
      'such as --http-addr, --ca-file or --namespace',
    );
  const changed = { ...profiles[name], ...Object.fromEntries(given) };
  await writeProfiles(io, {
    // The first one is the one that is wanted.
    current: current ?? name,
    profiles: { ...profiles, [name]: changed },
  });
  const one = { name, isCurrent: (current ?? name) === name, ...changed };
  await print.item(one, shape);
}
