import t from 'tap';
import { createAgent } from '../../support/box/agents.js';
import { startBox } from '../../support/box/postern-box.js';
import { casesFolder } from '../../support/letters/mime-cases.js';
import { problemsOf, reportedCases } from '../../support/letters/reported-cases.js';
import { deliver } from '../../support/smtp/deliver.js';

const folder = casesFolder();
const skip =
  folder === null && 'no recorded cases: set POSTERN_CASES to their folder, or put it at ../shared/cases';

t.test(
  'messages of public reports come out right at the other end: in by SMTP, out by the API',
  { skip },
  async t => {
    const box = await startBox(t);
    const agent = await createAgent(box);
    const cases = reportedCases(folder ?? '');
    for (const reported of cases) {
      const id = await deliver(box, agent.address, reported.raw);
      await agent.api.finished(id);
      const message = await agent.api.detail(id);
      const [file] = message.content?.attachments ?? [];
      const bytes0 =
        file === undefined
          ? undefined
          : (await agent.api.get(`/v1/messages/${id}/attachments/${file.id}`)).bytes.toString('base64');
      t.same(problemsOf(reported, { ...message, bytes0 }), [], reported.id);
    }
    t.comment(`${cases.length} cases`);
    t.ok(cases.length > 0, 'there are cases');
  },
);
