import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import { BackgroundJobs } from '../../../src/workers/background.js';
import { recordingLog } from '../../support/redis/redis.js';

function jobsOf(t: Test, options: { concurrency?: number; maxWaiting?: number } = {}) {
  const log = recordingLog();
  const jobs = new BackgroundJobs({ name: 'mail', concurrency: 2, maxWaiting: 3, log, ...options });
  t.teardown(() => jobs.stop(0));
  return { jobs, log };
}

/** A job that runs until it is released. */
function longJob() {
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  const job = { hasBegun: false, hasEnded: false, end: () => end(), run: async () => {} };
  job.run = async () => {
    job.hasBegun = true;
    await ended;
    job.hasEnded = true;
  };
  return job;
}

t.test('nothing of a job runs before whoever offered it has gone on to the end of the turn', async t => {
  const { jobs } = jobsOf(t);
  const job = longJob();
  jobs.offer(job.run);
  t.notOk(job.hasBegun);
  await Promise.resolve().then(() => {});
  t.notOk(job.hasBegun, 'nor in what follows at once, such as the writing of an answer');
  await turn();
  t.ok(job.hasBegun);
  job.end();
});

t.test('so many run at a time, in order, and the others follow', async t => {
  const { jobs } = jobsOf(t);
  const all = [longJob(), longJob(), longJob()];
  for (const job of all) jobs.offer(job.run);
  await turn();
  t.same(
    all.map(job => job.hasBegun),
    [true, true, false],
  );
  all[1]!.end();
  await turn();
  t.ok(all[2]!.hasBegun);
  for (const job of all) job.end();
});

t.test('more than may wait are dropped, and told of', async t => {
  const { jobs, log } = jobsOf(t);
  const all = Array.from({ length: 5 }, longJob);
  for (const job of all) jobs.offer(job.run);
  t.equal(log.matching(/mail: too much waits/).length, 2);
  for (const job of all) job.end();
});

t.test('a job that fails is told of and stops no other', async t => {
  const { jobs, log } = jobsOf(t, { concurrency: 1 });
  const job = longJob();
  jobs.offer(() => Promise.reject(new Error('no')));
  jobs.offer(async () => {
    throw new Error('no');
  });
  jobs.offer(job.run);
  while (!job.hasBegun) await turn();
  t.equal(log.matching(/mail: a job failed/).length, 2);
  job.end();
});

t.test('a stop lets finish what runs, for a while, and begins nothing', async t => {
  const { jobs } = jobsOf(t, { concurrency: 1 });
  const [running, waiting] = [longJob(), longJob()];
  jobs.offer(running.run);
  jobs.offer(waiting.run);
  await turn();
  const stopped = jobs.stop(60_000);
  running.end();
  await stopped;
  t.ok(running.hasEnded);
  jobs.offer(waiting.run);
  await turn();
  t.notOk(waiting.hasBegun);
});

t.test('a job that never ends does not hold the stop up', async t => {
  const { jobs } = jobsOf(t);
  const job = longJob();
  jobs.offer(job.run);
  await turn();
  await jobs.stop(1);
  t.notOk(job.hasEnded);
  job.end();
});
