import { BODY_BYTES } from '../../contract/limits.js';
import type { BodySpec, BytesSpec } from '../../contract/operation.js';
import { Refusal } from '../../domain/errors.js';
import type { Logger } from '../../usecases/ports.js';
import type { CallOperation, OperationAnswer, OperationCall } from '../../usecases/shared/operation-call.js';
import { tooLarge } from './body-bounds.js';
import { readQuery } from './query.js';
import { validateBody } from './read-body.js';
import type { Reply, Requester, Route } from './route.js';
import { refusedAs, uncertainRefusal } from './uncertain.js';

/** Lets another door call the handlers of routes, by the ids of their operations, with the checks of HTTP. */
export function operationCaller(routes: readonly Route[], log: Logger): CallOperation {
  const byId = new Map(routes.map(route => [route.operationId, route]));
  return (operationId, call) => {
    const route = byId.get(operationId);
    if (route === undefined) throw new Error(`there is no operation ${operationId}`);
    const uncertain = route.uncertain ?? 'internal_error';
    const failed = (error: unknown): never => {
      if (error instanceof Refusal) throw refusedAs(error, uncertain);
      log.error({ operation: operationId, err: error }, 'an operation failed');
      throw uncertainRefusal(uncertain);
    };
    try {
      return Promise.resolve(reply(route, call)).then(answerOf).catch(failed);
    } catch (error) {
      return Promise.reject(error).catch(failed);
    }
  };
}

function reply(route: Route, call: OperationCall): Reply | Promise<Reply> {
  const { account, params, hand, waiting } = call;
  const queryText = new URLSearchParams(
    call.query.map(([name, value]): [string, string] => [name, value]),
  ).toString();
  const query = readQuery(queryText, route.query);
  const body =
    route.body === undefined ? checkedBytes(call.bytes, route.bytes) : checkedBody(call.body, route.body);
  // Other doors answer with one document: no header asks for a stream.
  const requester: Requester = {
    headers: {},
    isAllowed: waiting.isAllowed,
    get gone() {
      return waiting.gone;
    },
  };
  return route.handle({ params, query, queryText, body, client: '', hand, account, headers: {}, requester });
}

function checkedBody(body: OperationCall['body'], spec: BodySpec): unknown {
  // Those of the largest operations are within the limit of whatever brought them.
  const isShort = spec.limitBytes < BODY_BYTES.message;
  if (isShort && Buffer.byteLength(JSON.stringify(body)) > spec.limitBytes) throw tooLarge(spec.limitBytes);
  return validateBody(body, spec);
}

function checkedBytes(bytes: OperationCall['bytes'], spec: BytesSpec | undefined): OperationCall['bytes'] {
  if (spec === undefined) return null;
  if (bytes === null) throw new Error('an operation that takes bytes was asked for without any');
  if ((bytes.declaredBytes ?? 0) > spec.limitBytes) throw tooLarge(spec.limitBytes);
  return bytes;
}

function answerOf(reply: Reply): OperationAnswer {
  switch (reply.kind) {
    case 'json':
      return { kind: 'object', value: reply.body };
    case 'json-bytes':
      return { kind: 'json-bytes', stream: reply.stream };
    case 'failure':
      throw new Refusal(reply.failure);
    default:
      throw new Error(`an operation for other doors answers with JSON, not with a ${reply.kind}`);
  }
}
