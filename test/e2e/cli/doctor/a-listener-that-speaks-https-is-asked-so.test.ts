import t from 'tap';
import { makeIdentity } from '../../../support/certificate.js';
import { DoctorBox } from '../../../support/doctor/doctor-box.js';
import { temporaryFolder } from '../../../support/redis/redis.js';

t.test('readiness is asked for over TLS, whatever name the certificate is for', async t => {
  const { certFile, keyFile } = makeIdentity(temporaryFolder(t), 'DNS:api.example.org');
  const doctor = await DoctorBox.start(t, {
    POSTERN_HTTP_TLS: 'files',
    POSTERN_HTTP_TLS_CERT: certFile,
    POSTERN_HTTP_TLS_KEY: keyFile,
  });
  const ids = (await doctor.look()).findings.map(({ id }) => id);
  t.notOk(ids.includes('not_ready'), ids.join(' '));
  t.ok(ids.includes('certificate_self_signed'), 'that certificate is looked at, too');
});
