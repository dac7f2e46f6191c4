import t from 'tap';
import { assignedMessageId, replacesMessageIds } from '../../../../src/domain/assigned-ids.js';

const ID = '0100017a1b2c3d4e-11111111-2222-3333-4444-555555555555-000000';

t.test('hosts of Amazon SES are known, and others are not taken for them', async t => {
  for (const host of [
    'email-smtp.us-east-1.amazonaws.com',
    'EMAIL-SMTP.eu-west-1.amazonaws.com',
    'email-smtp-fips.us-gov-west-1.amazonaws.com',
    'email-smtp.cn-north-1.amazonaws.com.cn',
    'vpce-0abc-1def.email-smtp.ap-south-1.vpce.amazonaws.com',
    'email-smtp.us-east-1.amazonaws.com.',
  ]) {
    t.ok(replacesMessageIds(host), host);
  }
  for (const host of [
    'smtp.example.com',
    'email-smtp.us-east-1.amazonaws.com.evil.example',
    'email-smtp.amazonaws.com',
    'notemail-smtp.us-east-1.amazonaws.com',
    '127.0.0.1',
    '',
  ]) {
    t.notOk(replacesMessageIds(host), host);
  }
});

t.test('the id of SES is of its region', async t => {
  const at = (region: string) => assignedMessageId(`email-smtp.${region}.amazonaws.com`, `Ok ${ID}`);
  t.equal(at('us-east-1'), `${ID}@email.amazonses.com`);
  t.equal(at('eu-central-1'), `${ID}@eu-central-1.amazonses.com`);
  t.equal(at('EU-West-1'), `${ID}@eu-west-1.amazonses.com`);
});

t.test('another relay names a whole id, or none', async t => {
  t.equal(assignedMessageId('smtp.example.com', 'Ok <a.b-1@relay.example> queued'), 'a.b-1@relay.example');
  for (const words of [
    'Ok',
    `Ok ${ID}`,
    'queued as 4XyZ',
    '<a b@c>',
    '<no-at>',
    '<a@b@c>',
    `<${'x'.repeat(990)}@y>`,
  ]) {
    t.equal(assignedMessageId('smtp.example.com', words), null, words.slice(0, 20));
  }
  t.equal(assignedMessageId('email-smtp.us-east-1.amazonaws.com', 'Ok'), null);
});
