/** What the router needs of a route. */
export interface Routed {
  readonly method: string;
  /** `/v1/inboxes/{inbox_id}`: literal and named segments. */
  readonly path: string;
}

export type Match<Route extends Routed> =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

interface Node<Route> {
  readonly literals: Map<string, Node<Route>>;
  parameter: { readonly name: string; readonly node: Node<Route> } | null;
  readonly methods: Map<string, Route>;
}

/** Finds routes by path segments; a literal segment wins over a parameter (`/v1/messages/labels`). */
export class Router<Route extends Routed> {
  readonly #root: Node<Route> = newNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** `path` is the raw path of the request target, without query. */
  match(method: string, path: string): Match<Route> {
    const segments = path.split('/');
    const params: Record<string, string> = {};
    const route = find(this.#root, segments, 1, method === 'HEAD' ? 'GET' : method, params);
    if (route !== null) return { kind: 'route', route, params };
    const allow = new Set<string>();
    collectMethods(this.#root, segments, 1, allow);
    if (allow.has('GET')) allow.add('HEAD');
    return allow.size === 0 ? { kind: 'unknown' } : { kind: 'wrong-method', allow: [...allow].sort() };
  }

  #add(route: Route): void {
    let node = this.#root;
    for (const segment of route.path.split('/').slice(1)) {
      node = segment.startsWith('{')
        ? parameterChild(node, segment.slice(1, -1), route)
        : literalChild(node, segment);
    }
    if (node.methods.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
    node.methods.set(route.method, route);
  }
}

function newNode<Route>(): Node<Route> {
  return { literals: new Map(), parameter: null, methods: new Map() };
}

function literalChild<Route>(node: Node<Route>, segment: string): Node<Route> {
  const known = node.literals.get(segment);
  if (known !== undefined) return known;
  const child = newNode<Route>();
  node.literals.set(segment, child);
  return child;
}

function parameterChild<Route extends Routed>(node: Node<Route>, name: string, route: Route): Node<Route> {
  node.parameter ??= { name, node: newNode() };
  if (node.parameter.name !== name) {
    throw new Error(`${route.path}: this segment is called {${node.parameter.name}} elsewhere`);
  }
  return node.parameter.node;
}

/** The route under a node that matches the segments from `at` on; puts values of named segments into `params`. */
function find<Route>(
  node: Node<Route>,
  segments: readonly string[],
  at: number,
  method: string,
  params: Record<string, string>,
): Route | null {
  const segment = segments[at];
  if (segment === undefined) return node.methods.get(method) ?? null;
  const literal = node.literals.get(segment);
  const route = literal === undefined ? null : find(literal, segments, at + 1, method, params);
  if (route !== null || node.parameter === null || segment === '') return route;
  const { name, node: child } = node.parameter;
  const behind = find(child, segments, at + 1, method, params);
  if (behind !== null) params[name] = decodeSegment(segment);
  return behind;
}

/** Collects the methods of every node that the segments match. */
function collectMethods<Route>(
  node: Node<Route>,
  segments: readonly string[],
  at: number,
  methods: Set<string>,
): void {
  const segment = segments[at];
  if (segment === undefined) {
    for (const method of node.methods.keys()) methods.add(method);
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) collectMethods(literal, segments, at + 1, methods);
  if (node.parameter !== null && segment !== '') {
    collectMethods(node.parameter.node, segments, at + 1, methods);
  }
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    // A malformed percent-encoding stays as it is; no id looks like it, so it leads to `not_found`.
    return segment;
  }
}
