/** Work on the folder of another user, which root does for that user. */
import { readdirSync, statSync } from 'node:fs';

/**
 * Does work on a folder. If root does it and another user owns the folder, it is done as that user:
 * files of root in there would keep the user's node from starting. Such work must not run twice at
 * a time, because all threads of the process become that user.
 */
export async function asOwner<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const owner = statSync(folder, { throwIfNoEntry: false });
  if (process.geteuid?.() !== 0 || owner === undefined || owner.uid === 0) return work();
  const gid = process.getegid!();
  try {
    become(owner, folder);
    return await work();
  } finally {
    becomeRoot(gid);
  }
}

/** Becomes the owner of a folder, unless root may not, or the owner cannot reach the folder. */
function become({ uid, gid }: { readonly uid: number; readonly gid: number }, folder: string) {
  const own = process.getegid!();
  try {
    process.setegid!(gid);
    process.seteuid!(uid);
    readdirSync(folder);
  } catch {
    becomeRoot(own);
  }
}

function becomeRoot(gid: number): void {
  process.seteuid!(0);
  process.setegid!(gid);
}
