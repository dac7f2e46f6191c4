import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { clientNetwork } from '../../domain/addresses.js';
import { MAX_HEADER_BYTES } from './unread-request.js';

export interface ConnectionLimits {
  /** Connections open at a time. */
  readonly maxClients: number;
  /** The same from one client network; a trusted proxy has no such limit. */
  readonly maxClientsPerNetwork: number;
  /** Whether an address is that of a trusted proxy. */
  readonly isProxy: (address: string) => boolean;
  /** A connection that takes nothing of its answers is closed after this long, and a third of it at most. */
  readonly idleTimeoutMs?: number;
}

/** Requests of one connection that are worked on, or whose answers it has not taken yet. */
const MAX_OPEN = 16;
/**
 * While this much of its answers is not taken, or its open requests have headers of `MAX_HEADER_BYTES` together, no
 * further request of a connection is begun.
 */
const MAX_UNREAD_BYTES = 64 * 1024;
/**
 * Requests, of all connections, that came in one piece with others and wait until those are answered: one piece can
 * bring three thousand. A connection that would exceed this is closed.
 */
const MAX_HELD = 4_096;
const IDLE_TIMEOUT_MS = 60_000;
/** In a full house, a connection without a request for this long can be closed for a new one. */
const KEEP_PLACE_MS = 1_000;

/** What the connections may cost at most: each of them headers, a small body or unread answers, and its objects. */
export function connectionBytes(maxClients: number): number {
  return maxClients * (MAX_HEADER_BYTES + MAX_UNREAD_BYTES + OBJECT_BYTES) + MAX_HELD * HELD_BYTES;
}

const OBJECT_BYTES = 16 * 1024;
/** A request that is held, with its answer. */
const HELD_BYTES = 8 * 1024;

/**
 * The connections of the HTTP listener, and how much each of them may ask at once. Requests can be sent without
 * waiting for answers (pipelining, RFC 9112 section 9.3.2), faster than they are answered: beyond a few open ones they
 * are held, and the socket is not read until all of them have begun.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Map<Socket, Connection>();
  readonly #networks = new Map<string, number>();
  /** Connections whose TLS handshake has not ended, by their two ends. */
  readonly #handshakes = new Map<string, Admitted>();
  #held = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Watches the connections of a server. One that is in its TLS handshake takes a place as any other. */
  attach(server: Server): void {
    if (server instanceof TlsServer) {
      // Before its own listener, which begins the handshake.
      server.prependListener('connection', socket => this.#admit(socket, true));
      server.on('secureConnection', socket => this.#secure(socket));
    } else {
      // After its own listener: what bounds pipelined requests stands on what that has set up.
      server.on('connection', socket => this.#admit(socket, false));
    }
    const { idleTimeoutMs = IDLE_TIMEOUT_MS } = this.#limits;
    // Not a timeout of every socket from its start: setting that anew for each request costs as much as all else here.
    const timer = setInterval(() => {
      for (const connection of this.#open.values()) connection.watchReader(idleTimeoutMs);
    }, idleTimeoutMs / 3).unref();
    server.once('close', () => clearInterval(timer));
  }

  /** Begins a request now, or as soon as its connection may have another one open. */
  enter({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    this.#open.get(socket)?.enter(response, begin);
  }

  /** Whether requests of a connection are still to be answered, those that wait included. */
  hasOpen(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    return connection !== undefined && (!connection.isIdle || connection.held > 0);
  }

  /** Ends all of them, those in their handshake too, which the server does not know of. */
  closeAll(): void {
    for (const socket of [...this.#open.keys()]) socket.destroy();
  }

  /** Whether it is a connection for requests: one whose TLS handshake has failed is none. */
  knows(socket: Socket): boolean {
    return this.#open.has(socket);
  }

  #admit(socket: Socket, hasHandshake: boolean): void {
    const address = socket.remoteAddress ?? '';
    const network = this.#limits.isProxy(address) ? null : clientNetwork(address);
    const ofNetwork = network === null ? 0 : (this.#networks.get(network) ?? 0);
    const isFull = this.#open.size >= this.#limits.maxClients && !this.#freePlace();
    if (isFull || ofNetwork >= this.#limits.maxClientsPerNetwork) {
      socket.destroy();
      return;
    }
    const admitted: Admitted = { socket, connection: this.#connection(socket) };
    this.#open.set(socket, admitted.connection);
    if (network !== null) this.#networks.set(network, ofNetwork + 1);
    const ends = hasHandshake ? endsOf(socket) : null;
    if (ends !== null) this.#handshakes.set(ends, admitted);
    socket.once('close', () => {
      this.#held -= admitted.connection.held;
      admitted.connection.end();
      this.#forget(admitted.socket);
      if (ends !== null && this.#handshakes.get(ends) === admitted) this.#handshakes.delete(ends);
      if (network === null) return;
      const left = (this.#networks.get(network) ?? 0) - 1;
      if (left > 0) this.#networks.set(network, left);
      else this.#networks.delete(network);
    });
  }

  /** After its handshake, requests come from the socket that decrypts, in the place of the one below it. */
  #secure(secured: Socket): void {
    const ends = endsOf(secured);
    const admitted = this.#handshakes.get(ends);
    if (admitted === undefined) {
      secured.destroy();
      return;
    }
    this.#handshakes.delete(ends);
    // A full house may have taken its place while it shook hands.
    const hasPlace = this.#open.delete(admitted.socket);
    admitted.socket = secured;
    admitted.connection = this.#connection(secured);
    if (hasPlace) this.#open.set(secured, admitted.connection);
  }

  #connection(socket: Socket): Connection {
    return new Connection(socket, change => this.#hold(socket, change));
  }

  #hold(socket: Socket, change: number): void {
    this.#held += change;
    if (this.#held > MAX_HELD && change > 0) socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
  }

  /** Closes the connection that has had no request for longest. False when all have one or have just come. */
  #freePlace(): boolean {
    let sinceMs = performance.now() - KEEP_PLACE_MS;
    let idlest: Socket | null = null;
    for (const [socket, connection] of this.#open) {
      if (!connection.isIdle || connection.idleSinceMs > sinceMs) continue;
      sinceMs = connection.idleSinceMs;
      idlest = socket;
    }
    if (idlest === null) return false;
    this.#forget(idlest);
    idlest.destroy();
    return true;
  }
}

/** A connection that has a place. */
interface Admitted {
  /** The one that requests come from. */
  socket: Socket;
  connection: Connection;
}

/** Both ends of a connection, which the sockets above and below TLS have in common. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

interface Held {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

class Connection {
  readonly #socket: Socket;
  readonly #onHeld: (change: number) => void;
  /** Responses that have begun, those that have left since included until they are looked at. */
  #begun: ServerResponse[] = [];
  #held: Held[] = [];
  #isWatched = false;
  /** When the last request began, or the connection. */
  idleSinceMs = performance.now();

  constructor(socket: Socket, onHeld: (change: number) => void) {
    this.#socket = socket;
    this.#onHeld = onHeld;
    // Node resumes the socket after every request that it has read.
    socket.on('resume', () => {
      if (this.#held.length > 0) socket.pause();
    });
  }

  /** Whether no request is open. */
  get isIdle(): boolean {
    return this.#open.length === 0;
  }

  /** Requests whose answers the system has not taken to the last byte. */
  get #open(): readonly ServerResponse[] {
    if (this.#begun.some(isOver)) this.#begun = this.#begun.filter(response => !isOver(response));
    return this.#begun;
  }

  /** Requests that wait until others are answered. */
  get held(): number {
    return this.#held.length;
  }

  /** Closes the connection when it takes nothing of its answers for that long: a timeout of a socket sees progress. */
  watchReader(timeoutMs: number): void {
    if (this.#isWatched || this.isIdle || this.#socket.writableLength === 0) return;
    this.#isWatched = true;
    this.#wakeWhenLeft();
    this.#socket.setTimeout(timeoutMs);
  }

  /**
   * The connection is closed. Node tells only the response whose turn it is; those behind it have no socket yet, and
   * whoever works on them would never hear of it. Those that are held begin no more.
   */
  end(): void {
    this.#held = [];
    for (const response of this.#open) {
      if (response.socket !== null) continue;
      response.destroy();
      response.emit('close');
    }
  }

  enter(response: ServerResponse, begin: () => void): void {
    if (this.#held.length === 0 && this.#mayBegin()) {
      this.#begin(response, begin);
      return;
    }
    if (this.#held.push({ response, begin }) === 1) this.#wakeWhenLeft();
    this.#socket.pause();
    this.#onHeld(1);
  }

  #begin(response: ServerResponse, begin: () => void): void {
    this.#begun.push(response);
    this.idleSinceMs = performance.now();
    if (this.#held.length > 0) this.#wakeBy(response);
    begin();
  }

  /** A listener for every answer would cost more than all else here: there are some only while somebody waits. */
  #wakeWhenLeft(): void {
    for (const response of this.#open) this.#wakeBy(response);
  }

  #wakeBy(response: ServerResponse): void {
    response.once('close', () => this.#left());
  }

  #left(): void {
    // The next request may take its time. Of an idle connection Node has set the timeout already.
    if (this.#isWatched && !this.isIdle) this.#socket.setTimeout(0);
    this.#isWatched = false;
    if (this.#held.length === 0 || this.#socket.destroyed) return;
    let begun = 0;
    for (const held of this.#held) {
      if (!this.#mayBegin()) break;
      begun++;
      this.#begin(held.response, held.begin);
    }
    if (begun === 0) return;
    this.#held = this.#held.slice(begun);
    this.#onHeld(-begun);
    if (this.#held.length === 0) this.#socket.resume();
  }

  #mayBegin(): boolean {
    const open = this.#open;
    if (open.length === 0) return true;
    if (open.length >= MAX_OPEN) return false;
    let unreadBytes = 0;
    let headerBytes = 0;
    for (const { writableLength, req } of open) {
      unreadBytes += writableLength;
      headerBytes += headerLength(req);
    }
    return unreadBytes < MAX_UNREAD_BYTES && headerBytes < MAX_HEADER_BYTES;
  }
}

/** Characters of the request line and the headers, about. */
function headerLength({ url = '', rawHeaders }: IncomingMessage): number {
  let length = url.length;
  for (const text of rawHeaders) length += text.length;
  return length;
}

/** A response that is closed is destroyed; one that is finished may not be closed yet. */
function isOver(response: ServerResponse): boolean {
  return response.destroyed || response.writableFinished;
}
