import { readFile } from 'node:fs/promises';

/** A password as its file holds it now, without the line end that editors leave; never empty. */
export async function readSecret(path: string): Promise<string> {
  const secret = (await readFile(path, 'utf8')).replace(/\r?\n$/, '');
  if (secret === '') throw new Error('the file is empty');
  return secret;
}
