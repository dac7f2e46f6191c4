import { randomBytes } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/**
 * A process shows that it lives by listening on a socket of its own in the data directory. The kernel ends
 * that with the process, however it ends, and tells it to anyone who may use the directory: to another
 * user, in another pid namespace, under `ProtectProc=invisible`.
 */
export class Presence {
  /** File name of the socket, never used twice. */
  readonly name: string;
  readonly #server: Server;
  readonly #directory: number;

  private constructor(name: string, server: Server, directory: number) {
    this.name = name;
    this.#server = server;
    this.#directory = directory;
  }

  static async show(directory: string): Promise<Presence> {
    const name = `daemon-${randomBytes(6).toString('hex')}.sock`;
    const handle = openSync(directory, 'r');
    const server = createServer(socket => socket.destroy());
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(socketPath(handle, name), resolve);
      });
    } catch (error) {
      closeSync(handle);
      throw error;
    }
    server.unref();
    return new Presence(name, server, handle);
  }

  /** Is the process that shows itself under this name alive? */
  static async isShown(directory: string, name: string): Promise<boolean> {
    const handle = openSync(directory, 'r');
    try {
      return await new Promise<boolean>(resolve => {
        const socket = connect(socketPath(handle, name), () => {
          socket.destroy();
          resolve(true);
        });
        // Nobody listens, or there is no such file; any other error speaks of somebody.
        socket.once('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
        );
      });
    } finally {
      closeSync(handle);
    }
  }

  /** Removes what a process that has ended left behind. */
  static forget(directory: string, name: string): void {
    rmSync(join(directory, name), { force: true });
  }

  async hide(): Promise<void> {
    await new Promise<void>(resolve => this.#server.close(() => resolve()));
    closeSync(this.#directory);
  }
}

/** A socket's path is limited to 107 bytes, that of a data directory is not. */
function socketPath(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`;
}
