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
  const becomeRoot = (): void => {
    process.seteuid!(0);
    process.setegid!(gid);
  };
  try {
    process.setegid!(owner.gid);
    process.seteuid!(owner.uid);
    readdirSync(folder);
  } catch {
    // Root may not become another user here, or the owner cannot reach the folder.
    becomeRoot();
  }
  return work().finally(becomeRoot);
}
