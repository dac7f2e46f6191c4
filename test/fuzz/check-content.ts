import { isEmailAddress } from '../../src/domain/addresses.js';
import { MAX_REPORTED } from '../../src/domain/delivery-reports.js';
import type { PreparedContent } from '../../src/usecases/ports.js';

type Json = Readonly<Record<string, unknown>>;

const CONTROLS = /[\x00-\x1f\x7f]/;
/** For header values; text and HTML may contain tabs and line ends. */
const TEXT_FIELDS = ['subject', 'message_id', 'in_reply_to', 'references', 'date'];
const ADDRESS_LISTS = ['reply_to', 'to', 'cc', 'bcc'];
const FIELDS = ['from', 'sender', ...ADDRESS_LISTS, ...TEXT_FIELDS, 'text', 'html', 'attachments'].sort();
const ATTACHMENT_FIELDS = [
  'id',
  'filename',
  'size',
  'mime_type',
  'disposition',
  'content_id',
  'related',
].sort();

/** The places where the prepared content of a message is not as `getMessage` promises. */
export function checkContent(prepared: PreparedContent): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) problems.push(what);
  };
  const text = (value: unknown, name: string): void => {
    expect(
      value === null || (typeof value === 'string' && !CONTROLS.test(value)),
      `${name}: ${JSON.stringify(value)}`,
    );
  };
  const json = Buffer.from(prepared.json).toString('utf8');
  const content = JSON.parse(json) as Json;
  expect(Object.keys(content).sort().join() === FIELDS.join(), `fields: ${Object.keys(content).join()}`);
  for (const name of TEXT_FIELDS) text(content[name], name);
  for (const name of ['text', 'html']) {
    const value = content[name];
    expect(value === null || typeof value === 'string', `${name}: ${typeof value}`);
  }
  for (const name of ['from', 'sender']) {
    if (content[name] !== null) checkAddress(content[name] as Json, name, text, expect);
  }
  for (const name of ADDRESS_LISTS) {
    for (const address of content[name] as Json[]) checkAddress(address, name, text, expect);
  }
  const attachments = content.attachments as Json[];
  const facts = (files: readonly object[]): string =>
    JSON.stringify((files as Json[]).map(({ id, filename, size }) => [id, filename, size]));
  expect(facts(attachments) === facts(prepared.attachments), 'attachments differ from their places');
  expect(new Set(attachments.map(({ id }) => id)).size === attachments.length, 'an id was given twice');
  for (const attachment of attachments) {
    expect(Object.keys(attachment).sort().join() === ATTACHMENT_FIELDS.join(), 'fields of an attachment');
    for (const name of ['filename', 'disposition', 'content_id']) {
      text(attachment[name], `attachment ${name}`);
    }
    const { filename, mime_type: type, related } = attachment;
    expect(
      typeof filename !== 'string' || !/[/\\]|^\.{0,2}$/.test(filename),
      `file name ${JSON.stringify(filename)}`,
    );
    expect(typeof type === 'string' && /^[^\s/]+\/[^\s/]+$/.test(type), `type ${JSON.stringify(type)}`);
    expect(typeof related === 'boolean', 'related');
  }
  const reported = prepared.report?.recipients ?? [];
  expect(reported.length <= MAX_REPORTED, `${reported.length} recipients of a report`);
  for (const { address, diagnostic } of reported) {
    text(diagnostic, 'diagnostic');
    expect(isEmailAddress(address), `reported address ${JSON.stringify(address)}`);
  }
  return problems;
}

function checkAddress(
  address: Json,
  name: string,
  text: (value: unknown, name: string) => void,
  expect: (holds: boolean, what: string) => void,
): void {
  text(address.name, `${name} name`);
  if (Array.isArray(address.group)) {
    for (const member of address.group as Json[]) {
      text(member.name, `${name} member`);
      text(member.address, `${name} member`);
    }
  } else {
    expect(typeof address.address === 'string', `${name}: no address`);
    text(address.address, `${name} address`);
  }
}
