/** Routes of archives of the whole state. */
import { type SnapshotParts, Snapshots } from '../../service/archives/snapshot.js';
import type { DeclaredRoute } from './types.js';

export function snapshotRoutes(parts: SnapshotParts): readonly DeclaredRoute[] {
  const snapshots = new Snapshots(parts);
  return [
    {
      path: '/v1/snapshot',
      isSecret: true,
      GET: async (request) => {
        const archive = await snapshots.save(request.caller, request.singleReadOptions());
        try {
          await request.answerStream(archive.pieces, {
            contentType: 'application/x-gzip',
            outcome: archive.meta,
          });
        } finally {
          archive.close();
        }
      },
      PUT: async (request) => {
        await snapshots.restore(request, request.incoming);
        request.answerText('');
      },
    },
  ];
}
