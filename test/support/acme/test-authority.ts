import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An authority that signs certificates with OpenSSL, in a folder of its own. */
export class TestAuthority {
  /** PEM. */
  readonly root: string;
  readonly #folder: string;
  #issued = 0;

  private constructor(folder: string, root: string) {
    this.#folder = folder;
    this.root = root;
  }

  static async create(folder: string): Promise<TestAuthority> {
    const [key, root] = [join(folder, 'ca-key.pem'), join(folder, 'ca.pem')];
    await run('openssl', [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '400',
      ],
      ...['-subj', '/CN=Test authority', '-keyout', key, '-out', root],
    ]);
    return new TestAuthority(folder, await readFile(root, 'utf8'));
  }

  /** The names that a request asks for, its signature checked. */
  async namesIn(csr: Buffer): Promise<readonly string[]> {
    const file = join(this.#folder, 'asked.der');
    await writeFile(file, csr);
    const { stdout, stderr } = await run('openssl', [
      ...['req', '-inform', 'der', '-in', file, '-noout', '-verify', '-text'],
    ]);
    if (!/self-signature verify OK/.test(stderr)) throw new Error('the request is not signed by its key');
    const list = /Subject Alternative Name:[^\n]*\n([^\n]*)/.exec(stdout)?.[1] ?? '';
    return list.split(',').map(name => name.trim().replace(/^DNS:/, ''));
  }

  /** @returns the chain in PEM form */
  async issue(csr: Buffer, days: number): Promise<string> {
    const number = ++this.#issued;
    const at = (name: string): string => join(this.#folder, `${number}-${name}`);
    await writeFile(at('csr.der'), csr);
    await run('openssl', [
      ...['x509', '-req', '-inform', 'der', '-in', at('csr.der'), '-out', at('leaf.pem')],
      ...['-CA', join(this.#folder, 'ca.pem'), '-CAkey', join(this.#folder, 'ca-key.pem')],
      ...[
        '-copy_extensions',
        'copy',
        '-days',
        String(days),
        '-set_serial',
        String(Date.now() * 100 + number),
      ],
    ]);
    return `${await readFile(at('leaf.pem'), 'utf8')}${this.root}`;
  }
}
