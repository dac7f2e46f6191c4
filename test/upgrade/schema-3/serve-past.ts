import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import type { ApiClient } from '../../support/box/api-client.js';
import type { PosternBox } from '../../support/box/postern-box.js';
import { askAs, factsOf, readAnswers } from './frozen-past.js';

/** How often something is asked for of which there is no event. */
export const POLL_MS = 50;

/** More than any sweep takes. */
const MAX_LOOKS = 100;

export const past = readAnswers();

export function apisOf(box: PosternBox): (name: string) => ApiClient {
  const apis = new Map(Object.entries(past.credentials).map(([name, key]) => [name, box.api(key)]));
  return name => apis.get(name) ?? box.api();
}

/** Every question gets the answer that it got from the program that wrote the store; newer members may stand in it. */
export async function sameAnswers(t: Test, box: PosternBox): Promise<void> {
  const apiOf = apisOf(box);
  for (const { status, headers, body, ...question } of past.requests) {
    const answer = factsOf(await askAs(apiOf(question.as), question));
    t.has(
      answer,
      { status, headers: withoutLengthOfJson(headers), body },
      `${question.as}: ${question.path}`,
    );
  }
}

/** JSON, the type that goes without saying, may have become longer. */
function withoutLengthOfJson(headers: Readonly<Record<string, string>>): object {
  const { 'content-length': _length, ...rest } = headers;
  return 'content-type' in headers ? headers : rest;
}

/** The store is sound, and what the process that wrote it left of uploads and deletions is freed. */
export async function soundAndSwept(t: Test, box: PosternBox): Promise<void> {
  type Counts = Record<string, unknown> & { readonly sound: boolean };
  const verify = () => box.cliJson<Counts>('verify');
  let counts = await verify();
  // The sweeper says nothing when it has come to the end.
  for (let looks = 0; counts.pending !== past.counts.pending && looks < MAX_LOOKS; looks++) {
    await delay(POLL_MS);
    counts = await verify();
  }
  t.match(counts, { sound: true, unfinished_uploads: 0, ...past.counts });
}

/** Resolves when the store file has been written to so often, or the daemon is ready. */
export async function afterWrites(box: PosternBox, count: number): Promise<'written' | 'ready'> {
  const ready = box.hear(/^postern is ready$/);
  let left = count;
  const watcher = watch(join(box.dataDir, 'store'));
  const written = new Promise<void>(resolve => {
    watcher.on('change', (_, name) => {
      if (name === 'data.mdb' && --left === 0) resolve();
    });
  });
  box.spawn();
  const first = await Promise.race([
    written.then(() => 'written' as const),
    ready.then(() => 'ready' as const),
  ]);
  watcher.close();
  return first;
}
