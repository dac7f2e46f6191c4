import type { Config } from '../config/load-config.js';
import { apiRoutes } from '../http/routes/api-routes.js';
import type { WebhookRouteDeps } from '../http/routes/webhooks.js';
import { HttpServer, type HttpServerOptions } from '../http/server/http-server.js';
import { smtpListenerDefaults, type TlsIdentity } from '../smtp/options.js';
import { SmtpListener } from '../smtp/smtp-listener.js';
import { rememberingAuthenticator } from '../usecases/accounts/api-keys.js';
import type { EventDeps } from '../usecases/events/list-events.js';
import { INBOXES_PER_DAY } from '../usecases/inboxes/create-inbox.js';
import type { InboundMail, Logger } from '../usecases/ports.js';
import type { SearchDeps } from '../usecases/search/search-messages.js';
import type { SendDeps } from '../usecases/sending/submit-send.js';
import type { Access } from './access.js';
import { withTools } from './tools.js';

/** What the HTTP listener serves. */
export interface HttpParts {
  readonly send: SendDeps;
  readonly access: Access;
  readonly events: EventDeps;
  readonly webhooks: WebhookRouteDeps;
  readonly search: SearchDeps;
  readonly isReady: () => Promise<boolean>;
  /** With it the listener speaks HTTPS. */
  readonly tls: TlsIdentity | undefined;
  /** Undefined when no certificate is got from an authority. */
  readonly answerChallenge: HttpServerOptions['answerChallenge'];
  /** Connections in all. */
  readonly maxClients: number;
  readonly version: string;
  readonly onAnswered: HttpServerOptions['onAnswered'];
  readonly log: Logger;
}

/** The HTTP listener with all its routes, not yet open. */
export function createHttpListener(config: Config, parts: HttpParts): HttpServer {
  const { send, access, events, webhooks, search, tls, answerChallenge } = parts;
  const { isReady, maxClients, version, onAnswered, log } = parts;
  const { store, clock } = send;
  return new HttpServer({
    host: config.http.host,
    port: config.http.port,
    authenticate: rememberingAuthenticator({ store }),
    log,
    onAnswered,
    tls,
    answerChallenge,
    visitors: access.visitors,
    connections: {
      maxClients,
      maxClientsPerNetwork: config.http.maxClientsPerAddress,
      isProxy: address => access.visitors.isProxy(address),
    },
    pages: access.pages,
    routes: withTools(
      { config, version, store, log },
      apiRoutes({
        service: config.service,
        isReady,
        inboxes: {
          store,
          clock,
          limits: config.limits,
          domains: config.mail.domains,
          reservedLocalParts: config.mail.reservedLocalParts,
          increaseRequest: config.service.increaseRequest,
          policyUrl: config.service.policyUrl,
          perDay: INBOXES_PER_DAY,
        },
        send,
        search,
        events,
        webhooks,
        retentionDays: config.trash.retentionDays,
        signup: access.signup,
        feedback: access.feedback,
      }),
    ),
  });
}

/** The SMTP listener, not yet open; without an identity it offers no STARTTLS. */
export function createSmtpListener(
  config: Config,
  parts: { readonly inbound: InboundMail; readonly tls: TlsIdentity | undefined; readonly log: Logger },
): SmtpListener {
  const { inbound, tls, log } = parts;
  const options = {
    ...smtpListenerDefaults,
    hostname: config.mail.hostname,
    host: config.smtp.host,
    port: config.smtp.port,
    maxMessageBytes: config.smtp.maxMessageBytes,
    maxClients: config.smtp.maxClients,
    maxClientsPerAddress: config.smtp.maxClientsPerAddress,
    idleTimeoutMs: config.smtp.idleTimeoutS * 1000,
    ...(tls === undefined ? {} : { tls }),
    ...(config.smtp.implicitTlsPort === 0 ? {} : { implicitTlsPort: config.smtp.implicitTlsPort }),
  };
  return new SmtpListener(options, inbound, log);
}
