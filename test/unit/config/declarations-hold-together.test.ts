import t from 'tap';
import type { Secret } from '../../../src/config/key.js';
import { exampleOf, KEY_LIST, SECTIONS } from '../../../src/config/key-list.js';
import type { Config } from '../../../src/config/load-config.js';
import { loaded, MINIMUM } from './load.js';

t.test('every default and every example is right by its own check', async t => {
  for (const key of KEY_LIST) {
    t.ok(key.type.check(exampleOf(key), '/').ok, `${key.id}, example`);
    if (key.fallback.kind === 'value') t.ok(key.type.check(key.fallback.raw, '/').ok, `${key.id}, default`);
  }
});

t.test('no two keys have the same name in file or environment', async t => {
  t.equal(new Set(KEY_LIST.map(key => key.id)).size, KEY_LIST.length);
  t.equal(new Set(KEY_LIST.map(key => key.variable)).size, KEY_LIST.length);
});

t.test('names are in snake case, and keys and sections are told in one sentence', async t => {
  for (const key of KEY_LIST) {
    t.match(key.id, /^[a-z][a-z0-9]*(_[a-z0-9]+)*(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)+$/);
    t.match(key.doc, /^\S.*[^.]\.$/, key.id);
  }
  for (const section of SECTIONS) t.match(section.doc, /^\S.*[^.]\.$/, section.id);
});

t.test('the type of the configuration follows the keys', async t => {
  // The compiler checks this claim.
  const config: Config = loaded({ toml: MINIMUM });
  const port: number = config.smtp.port;
  const domains: readonly string[] = config.mail.domains;
  const mode: 'managed' | 'external' = config.redis.mode;
  const url: Secret | null = config.redis.url;
  // @ts-expect-error an optional key may be null
  const cert: string = config.smtp.tlsCert;
  t.same([port, domains, mode, url, cert], [25, ['agents.example.com'], 'managed', null, null]);
  t.ok(Object.isFrozen(config) && Object.isFrozen(config.smtp), 'nobody changes it');
});
