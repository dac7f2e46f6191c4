import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { isAtRest, untilFacts } from '../../support/box/store-facts.js';
import { casesFolder, runMimeCases } from '../../support/letters/mime-cases.js';
import { exportPipeline } from '../../support/letters/pipeline-parser.js';

const folder = casesFolder();
const skip =
  folder === null && 'no recorded cases: set POSTERN_CASES to their folder, or put it at ../shared/cases';

/** Of the recorded cases, so many at least come out right in every detail. */
const SHARE = 0.9;

t.test(
  'recorded MIME cases come out right at the other end: in by SMTP, out by the API',
  { skip },
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    exportPipeline({
      smtpPort: box.smtpPort,
      httpPort: box.httpPort,
      credential: agent.credential,
      address: agent.address,
    });
    const parser = fileURLToPath(new URL('../../support/letters/pipeline-parser.js', import.meta.url));
    const results = await runMimeCases(casesForSmtp(t, folder ?? ''), parser);
    const failed = results.filter(({ pass }) => !pass);
    for (const { id, problems } of failed) t.comment(`${id}: ${problems.join('; ')}`);
    t.comment(`${results.length - failed.length} of ${results.length} cases`);
    t.ok(results.length > 0, 'there are cases');
    t.ok(failed.length <= results.length * (1 - SHARE), `${failed.length} of ${results.length} cases failed`);

    const facts = await untilFacts(box, isAtRest);
    t.same(facts.faults, [], 'none of them left the store unsound');
    t.equal(facts.messages.length, results.length, 'each was stored once');
  },
);

/** The cases without those that the listener rightly refuses, laid out as the runner wants them. */
function casesForSmtp(t: Test, from: string): string {
  const to = mkdtempSync(join(tmpdir(), 'cases-'));
  t.teardown(() => rmSync(to, { recursive: true, force: true }));
  mkdirSync(join(to, 'mime'));
  symlinkSync(join(from, 'run-mime.mjs'), join(to, 'run-mime.mjs'));
  const mime = join(from, 'mime');
  for (const file of readdirSync(mime)) {
    const sidecar = file.replace(/\.(eml|expect\.json)$/, '.expect.json');
    if (sidecar === file && !file.endsWith('.expect.json')) continue;
    const { not_via_smtp } = JSON.parse(readFileSync(join(mime, sidecar), 'utf8')) as Record<string, unknown>;
    if (not_via_smtp === undefined) symlinkSync(join(mime, file), join(to, 'mime', file));
  }
  return to;
}
