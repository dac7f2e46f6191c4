import { createPrivateKey, X509Certificate } from 'node:crypto';
import t from 'tap';
import { certificateRequest, newKey, selfSigned } from '../../../src/acme/certificate-request.js';
import { TestAuthority } from '../../support/acme/test-authority.js';
import { temporaryFolder } from '../../support/redis/redis.js';

t.test('OpenSSL reads the names of a request, checks its signature, and signs it', async t => {
  const authority = await TestAuthority.create(temporaryFolder(t));
  const many = Array.from({ length: 90 }, (_, at) => `a-host-with-a-name-of-some-length-${at}.example.org`);
  for (const names of [['mx.example.org'], ['mx.example.org', 'api.example.net'], many]) {
    const key = newKey();
    const csr = certificateRequest(key, names);
    t.same(await authority.namesIn(csr), names);
    const issued = new X509Certificate(await authority.issue(csr, 90));
    t.ok(issued.checkPrivateKey(key));
    for (const name of names) t.equal(issued.checkHost(name), name);
  }
});

t.test('the certificate that is served meanwhile is one, for its names', async t => {
  const now = Date.UTC(2026, 10, 29, 12, 30, 15);
  const { cert, key } = selfSigned(['mx.example.org', 'api.example.org'], now);
  const certificate = new X509Certificate(cert);
  t.ok(certificate.checkPrivateKey(createPrivateKey(key)));
  t.ok(certificate.verify(certificate.publicKey), 'it is signed with its own key');
  t.equal(certificate.checkHost('api.example.org'), 'api.example.org');
  t.equal(certificate.checkHost('www.example.org'), undefined);
  t.equal(Date.parse(certificate.validFrom), now - 3_600_000);
});
