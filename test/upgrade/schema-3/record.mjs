// Asks everything that a client can ask of the store, and keeps the answers.
import { askAs, clockEnv, condensed, factsOf } from '../../../dist/test/upgrade/schema-3/frozen-past.js';

/** What the API shows to nobody. */
const COMMANDS = [
  ['key', 'list'],
  ['allowance', 'show'],
  ['suppression', 'list'],
  ['feedback', 'list'],
  ['audit', 'list'],
];

const FILTERS = [
  'labels_all=work',
  'labels_none=read&order=oldest',
  'recipient=carl%40elsewhere.example',
  'after=2026-03-03T00:00:00.000Z',
];

const MORE_FILTERS = [
  'labels_all=work&labels_all=urgent',
  'labels_any=urgent&labels_any=read',
  'from=sender%40client.example',
  'recipient=eve%40elsewhere.example',
  'subject=edge',
  'before=2026-03-03T00:00:00.000Z&order=oldest',
];

export async function recordAnswers(box, { credentials, replays, hidden, second, unparsed }) {
  await box.start();
  const requests = [];
  const ask = async (as, path, post) => {
    const asked = post === undefined ? { as, path } : { as, path, post };
    const answer = await askAs(box.api(credentials[as]), asked);
    requests.push({ ...asked, ...factsOf(answer) });
    return answer.status < 300 && answer.headers['content-type'].startsWith('application/json')
      ? answer.json()
      : {};
  };
  /** Every page; the items of all of them. */
  const pages = async (as, path, name) => {
    const items = [];
    for (let cursor = null; ; ) {
      const page = await ask(as, cursor === null ? path : `${path}&cursor=${cursor}`);
      items.push(...(page[name] ?? []));
      cursor = page.next_cursor ?? null;
      if (cursor === null) return items;
    }
  };
  const seen = { ann: [], ben: [], operator: [] };
  for (const as of Object.keys(seen)) {
    await ask(as, '/v1/outbound/quota');
    const { inboxes } = await ask(as, '/v1/inboxes');
    for (const { id } of inboxes) await recordInbox({ ask, pages }, { as, id, seen: seen[as] });
    if (as === 'ann') await recordSearches({ ask, pages }, as, inboxes[0].id);
  }
  await ask('claimed', '/v1/inboxes');
  await ask('revoked', '/v1/inboxes');
  for (const path of [...hidden, `/v1/inboxes/${second.id}/messages?cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`])
    await ask('ann', path);
  // What is another's is as good as not there.
  for (const path of seen.ann.filter((_, index) => index % 9 === 0)) await ask('ben', path);
  for (const path of seen.ben.slice(0, 5)) await ask('ann', path);
  for (const { as, path, post } of replays) await ask(as, path, post);

  const commands = [];
  for (const args of COMMANDS) commands.push({ args, document: condensed(await box.cliJson(...args)) });
  // Beside the counts of what waits stand ages, which go by the clock.
  const { held } = await box.cliJson('queue', 'status');
  // Until the sweeper has nothing left to free.
  let counts = {};
  for (let left = -1; counts.pending !== left; await new Promise(resolve => setTimeout(resolve, 2_000))) {
    left = counts.pending;
    const { path: _path, sound: _sound, entries: _entries, ...rest } = await box.cliJson('verify');
    counts = rest;
  }
  await box.stop();
  // The same with a Redis: what waited is parsed.
  Object.assign(box.env, clockEnv(Number(box.env.CLOCK_STARTS_AT)), { POSTERN_REDIS_MODE: 'managed' });
  delete box.env.POSTERN_REDIS_URL;
  await box.start();
  const parsed = [];
  for (const id of unparsed) {
    const { content } = await box.api(credentials.ann).finished(id);
    parsed.push({ as: 'ann', id, content: condensed(content) });
  }
  await box.stop();
  return { credentials, requests, commands, counts, later: { held, parsed } };
}

async function recordInbox({ ask, pages }, { as, id, seen }) {
  const inbox = `/v1/inboxes/${id}`;
  const once = async path => {
    seen.push(path);
    return ask(as, path);
  };
  for (const path of ['', '/sending-policy', '/receiving-policy', '/labels?prefix=w'])
    await once(`${inbox}${path}`);
  await pages(as, `${inbox}/labels?limit=2`, 'labels');
  await pages(as, `${inbox}/trash?limit=2`, 'messages');
  await once(`${inbox}/messages/count`);
  for (const { id: messageId } of await pages(as, `${inbox}/messages?limit=5`, 'messages')) {
    const { content } = await once(`/v1/messages/${messageId}`);
    await once(`/v1/messages/${messageId}/raw`);
    const files = [...(content?.attachments ?? []), { id: 'none' }];
    for (const { id: fileId } of files) await once(`/v1/messages/${messageId}/attachments/${fileId}`);
  }
  await pages(as, `${inbox}/messages?limit=6&order=oldest`, 'messages');
  for (const { id: sentId } of await pages(as, `${inbox}/sent?limit=6`, 'messages'))
    await once(`/v1/sent/${sentId}`);
  await pages(as, `${inbox}/sent?limit=5&order=oldest`, 'messages');
  for (const { id: threadId, message_count } of await pages(as, `${inbox}/threads?limit=4`, 'threads')) {
    // A conversation of one message shows what the message shows.
    if (message_count === 1) continue;
    await once(`/v1/threads/${threadId}`);
    await pages(as, `/v1/threads/${threadId}?limit=2`, 'messages');
  }
  for (const state of ['draft', 'submitted', 'all']) {
    for (const draft of await pages(as, `${inbox}/drafts?limit=4&state=${state}`, 'drafts')) {
      if (state === 'all') await once(`/v1/drafts/${draft.id}`);
    }
  }
}

async function recordSearches({ ask, pages }, as, id) {
  const inbox = `/v1/inboxes/${id}`;
  for (const filter of [...FILTERS, ...MORE_FILTERS]) {
    await ask(as, `${inbox}/messages/count?${filter.replace('&order=oldest', '')}`);
    await pages(as, `${inbox}/messages?limit=9&${filter}`, 'messages');
  }
  for (const filter of FILTERS) {
    await pages(as, `${inbox}/sent?limit=9&${filter}`, 'messages');
    await pages(as, `${inbox}/threads?limit=9&${filter}`, 'threads');
  }
}
