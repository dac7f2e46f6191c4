import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderExample } from './example.js';

/** Writes config/postern.example.toml; run from dist/src/config by `npm run config:example`. */
const target = fileURLToPath(new URL('../../../config/postern.example.toml', import.meta.url));
writeFileSync(target, renderExample());
process.stdout.write(`wrote ${target}\n`);
