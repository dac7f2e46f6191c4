import type { CustomFetch } from 'openid-client';
import { isLoopback } from '../domain/addresses.js';

/**
 * The `fetch` of the sign-in. It allows only https, or http to this machine, and rejects otherwise. Redirects are not
 * followed, so that only the issuer and the endpoints that it names are contacted.
 */
export const checkedFetch: CustomFetch = (url, options) => {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    return Promise.reject(new Error(`the provider names an endpoint without TLS: ${url}`));
  }
  return fetch(url, { ...options, body: options.body ?? null, redirect: 'manual' });
};
