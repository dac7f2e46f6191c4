import type { Test } from 'tap';
import { DnsClient } from '../../../src/dns/dns-client.js';
import { Reach } from '../../../src/domain/networks.js';
import { type HookCallerOptions, HttpHookCaller } from '../../../src/hooks/http-hook-caller.js';

/** Asks nobody: endpoints are named by their addresses. */
const NO_RESOLVER = { servers: ['127.0.0.1:9'], trustAd: false } as const;

/** A caller for endpoints of this machine. */
export function localCaller(t: Test, options: Partial<HookCallerOptions> = {}): HttpHookCaller {
  const dns = new DnsClient(NO_RESOLVER);
  const caller = new HttpHookCaller({ dns, reach: new Reach(['127.0.0.1']), version: '0', ...options });
  t.teardown(async () => {
    await caller.close(0);
    dns.close();
  });
  return caller;
}
