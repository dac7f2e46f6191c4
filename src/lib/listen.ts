import type { Server } from 'node:net';

/** Opens a port, of the system's choice when it is 0. Rejects with what the system says when it cannot be used. */
export function listen(
  server: Server,
  where: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
