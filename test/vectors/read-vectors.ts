import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Data in `test/vectors`, which others have written; beside it stands whose it is. */
export function readVectors(path: string): Buffer {
  return readFileSync(join(import.meta.dirname, '../../../test/vectors', path));
}
