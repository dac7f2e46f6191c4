import type { CustomFetch } from 'openid-client';
import { isLoopback } from '../domain/addresses.js';

/**
 * Fetches for the sign-in alone: over TLS, or from this machine; a redirect is an answer like any other and is not
 * followed, so that nothing but the issuer and the endpoints that it names is ever asked.
 */
export const checkedFetch: CustomFetch = (url, options) => {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    return Promise.reject(new Error(`the provider names an endpoint without TLS: ${url}`));
  }
  return fetch(url, { ...options, body: options.body ?? null, redirect: 'manual' });
};
