import { fileURLToPath } from 'node:url';
import t from 'tap';
import { casesFolder, runMimeCases } from '../../../support/letters/mime-cases.js';
import { problemsOf, reportedCases } from '../../../support/letters/reported-cases.js';
import { parseBytes } from './parse-text.js';

const folder = casesFolder();
const skip =
  folder === null && 'no recorded cases: set POSTERN_CASES to their folder, or put it at ../shared/cases';

t.test('every recorded MIME case gives what its sidecar says', { skip }, async t => {
  const parser = fileURLToPath(new URL('./cases-parser.js', import.meta.url));
  const results = await runMimeCases(folder ?? '', parser);
  t.ok(results.length > 0, 'there are cases');
  for (const { id, pass, problems } of results) t.ok(pass, pass ? id : `${id}: ${problems.join('; ')}`);
});

t.test('every message of a public report is read as it should be', { skip }, async t => {
  const cases = reportedCases(folder ?? '');
  t.ok(cases.length > 0, 'there are cases');
  for (const reported of cases) {
    const { content, files } = await parseBytes(reported.raw);
    const problems = problemsOf(reported, {
      processing_status: 'ready',
      subject: content.subject,
      message_id: content.message_id,
      content,
      bytes0: files[0]?.toString('base64'),
    });
    t.same(problems, [], reported.id);
  }
});
