import t from 'tap';
import { codeOrReasonOf, reasonOf } from '../../../src/lib/async.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:25'), { code: 'ECONNREFUSED' });

t.test('the message of an error; the text of anything else', async t => {
  t.equal(reasonOf(refused), 'connect ECONNREFUSED 192.0.2.1:25');
  t.equal(reasonOf('thrown as text'), 'thrown as text');
  t.equal(reasonOf(undefined), 'undefined');
});

t.test('in short: its code, where it has one', async t => {
  t.equal(codeOrReasonOf(refused), 'ECONNREFUSED');
  t.equal(codeOrReasonOf(Object.assign(new Error('no'), { code: 7 })), 'no');
  t.equal(codeOrReasonOf(new Error('no')), 'no');
  t.equal(codeOrReasonOf({ code: 'EPIPE' }), '[object Object]');
});
