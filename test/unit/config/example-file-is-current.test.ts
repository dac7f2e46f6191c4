import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { renderExample } from '../../../src/config/example.js';

const root = join(import.meta.dirname, '../../../..');

t.test('config/postern.example.toml is what the keys generate', async t => {
  const file = readFileSync(join(root, 'config/postern.example.toml'), 'utf8');
  t.equal(file, renderExample(), 'run: npm run config:example');
});
