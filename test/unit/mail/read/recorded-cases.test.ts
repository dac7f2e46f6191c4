import { fileURLToPath } from 'node:url';
import t from 'tap';
import { casesFolder, runMimeCases } from '../../../support/letters/mime-cases.js';

const folder = casesFolder();
const skip =
  folder === null && 'no recorded cases: set POSTERN_CASES to their folder, or put it at ../shared/cases';

t.test('every recorded MIME case gives what its sidecar says', { skip }, async t => {
  const parser = fileURLToPath(new URL('./cases-parser.js', import.meta.url));
  const results = await runMimeCases(folder ?? '', parser);
  t.ok(results.length > 0, 'there are cases');
  for (const { id, pass, problems } of results) t.ok(pass, pass ? id : `${id}: ${problems.join('; ')}`);
});
