import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { type DkimAlgorithm, dkimRecord, dkimRecordName } from '../../../src/domain/dkim.js';
import type { SigningKey } from '../../../src/mail/write/sign-message.js';
import { skipWithout } from '../installed.js';

/** A key that signs, and the record that a verifier finds. */
export interface TestKey extends SigningKey {
  readonly name: string;
  readonly record: string;
}

export function testKey(algorithm: DkimAlgorithm, domain = 'example.org', selector?: string): TestKey {
  const { publicKey, privateKey } =
    algorithm === 'rsa-sha256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ed25519');
  const info = publicKey.export({ type: 'spki', format: 'der' });
  const text = (algorithm === 'rsa-sha256' ? info : info.subarray(-32)).toString('base64');
  const label = selector ?? algorithm.slice(0, 1);
  return {
    domain,
    selector: label,
    algorithm,
    privateKey,
    name: dkimRecordName(domain, label),
    record: dkimRecord({ algorithm, publicKey: text }),
  };
}

/** The one that sees Debian's packages. */
const PYTHON = '/usr/bin/python3';

/** Debian's python3-dkim: it shares no code with what signs. A line is `{records, message}`; it answers with how each signature of the message ends. */
const VERIFIER = `
import base64, dkim, json, sys

def verify(line):
    asked = json.loads(line)
    message = base64.b64decode(asked["message"])
    def txt(name, timeout=5):
        return asked["records"].get(name.decode().rstrip(".")).encode()
    one = dkim.DKIM(message, minkey=1024)
    count = sum(1 for name, value in one.headers if name.lower() == b"dkim-signature")
    results = []
    for index in range(count):
        try:
            results.append(dkim.DKIM(message, minkey=1024).verify(index, dnsfunc=txt))
        except dkim.DKIMException as error:
            results.append(False)
    return results

for line in sys.stdin:
    print(json.dumps(verify(line)))
`;

export const needsVerifier = skipWithout(
  spawnSync(PYTHON, ['-c', 'import dkim, nacl']).status === 0
    ? null
    : "needs Debian's python3-dkim and python3-nacl",
);

export interface Signed {
  readonly records: Readonly<Record<string, string>>;
  readonly message: Uint8Array;
}

/** Whether each signature of each message is right. */
export function verify(messages: readonly Signed[]): boolean[][] {
  const input = messages
    .map(({ records, message }) =>
      JSON.stringify({ records, message: Buffer.from(message).toString('base64') }),
    )
    .join('\n');
  const ended = spawnSync(PYTHON, ['-c', VERIFIER], { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (ended.status !== 0) throw new Error(ended.stderr);
  return ended.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as boolean[]);
}

export function recordsOf(keys: readonly TestKey[]): Record<string, string> {
  return Object.fromEntries(keys.map(({ name, record }) => [name, record]));
}
