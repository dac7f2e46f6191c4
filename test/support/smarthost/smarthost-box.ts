import type { Test } from 'tap';
import { type BoxOptions, PosternBox } from '../box/postern-box.js';
import { type FakeSmarthost, withFakeSmarthost } from './fake-smarthost.js';
import type { Script, SmarthostSettings } from './smarthost-script.js';

export interface SmarthostBox {
  readonly box: PosternBox;
  readonly smarthost: FakeSmarthost;
}

/** A box that sends through a fake smarthost on loopback, in plain text. */
export async function startSmarthostBox(
  t: Test,
  env: Readonly<Record<string, string>> = {},
  script: Script = {},
  settings: SmarthostSettings & Pick<BoxOptions, 'nodeArguments'> = {},
): Promise<SmarthostBox> {
  const { nodeArguments = [], ...ofSmarthost } = settings;
  const smarthost = await withFakeSmarthost(t, script, ofSmarthost);
  const box = PosternBox.create(t, {
    nodeArguments,
    env: {
      POSTERN_RELAY_TRANSPORT: 'smarthost',
      POSTERN_RELAY_SMARTHOST_HOST: '127.0.0.1',
      POSTERN_RELAY_SMARTHOST_PORT: `${smarthost.port}`,
      POSTERN_RELAY_SMARTHOST_TLS: 'none',
      ...env,
    },
  });
  await box.start();
  return { box, smarthost };
}
