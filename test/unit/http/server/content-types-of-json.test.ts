import t from 'tap';
import { isJsonContentType } from '../../../../src/http/server/read-body.js';

t.test('application/json in UTF-8, whatever other parameters it has', async t => {
  for (const type of [
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
    'application/json; profile=x; charset=utf8',
    'application/json;',
  ]) {
    t.ok(isJsonContentType(type), type);
  }
  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/jsonx',
    'application/json+x',
    'application/x-json',
    'text/json',
    'application/json; charset=latin1',
    'application/json; charset="utf-16"',
    'multipart/form-data; x=application/json',
    'application/x-www-form-urlencoded',
  ]) {
    t.notOk(isJsonContentType(type), String(type));
  }
});
