import { isIP } from 'node:net';
import { MAX_WEBHOOK_URL_LENGTH } from '../contract/limits.js';
import { refuse } from './errors.js';
import type { Reach } from './networks.js';

export interface UrlRules {
  /** Is http allowed too (`webhooks.allow_http`)? */
  readonly allowsHttp: boolean;
  readonly reach: Reach;
}

/** Of the ports below this one, only those of the web: others speak protocols that a request could be taken for. */
const FIRST_FREE_PORT = 1024;
const WEB_PORTS = [80, 443];

/**
 * Checks the URL of an endpoint and gives it as it is kept. A name that leads where it must not is found out when it is
 * called: what it says now is no promise.
 * @throws `invalid_webhook`
 */
export function checkWebhookUrl(given: string, { allowsHttp, reach }: UrlRules): string {
  if (given.length > MAX_WEBHOOK_URL_LENGTH) {
    throw wrong(`is longer than ${MAX_WEBHOOK_URL_LENGTH} characters`);
  }
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null) throw wrong('is not an absolute URL');
  const schemes = allowsHttp ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(url.protocol)) {
    throw wrong(
      url.protocol === 'http:'
        ? 'begins with http://, which the operator does not allow; use https://'
        : `does not begin with ${schemes.map(scheme => `${scheme}//`).join(' or ')}`,
    );
  }
  if (url.username !== '' || url.password !== '') throw wrong('holds a user name or a password');
  if (url.hash !== '') throw wrong('has a fragment, which is never sent');
  const port = portOf(url);
  if (port < FIRST_FREE_PORT && !WEB_PORTS.includes(port)) {
    throw wrong(`has the port ${port}; use 80, 443 or one from ${FIRST_FREE_PORT} on`);
  }
  const host = hostOf(url);
  const fault = isIP(host) === 0 ? null : reach.faultOf(host);
  if (fault !== null) throw wrong(`leads to ${host}, which ${fault}: it must not be called`);
  if (url.href.length > MAX_WEBHOOK_URL_LENGTH) {
    throw wrong(`is longer than ${MAX_WEBHOOK_URL_LENGTH} characters when it is encoded`);
  }
  return url.href;
}

function wrong(what: string): Error {
  return refuse('invalid_webhook', `url ${what}.`);
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** The port that a URL leads to. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
