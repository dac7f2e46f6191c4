import type { Route } from './route.js';

export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' };

interface Node {
  readonly literals: Map<string, Node>;
  parameter: { readonly name: string; readonly node: Node } | null;
  readonly methods: Map<string, Route>;
}

/** Finds routes by path segments; a literal segment wins over a parameter (`/v1/messages/labels`). */
export class Router {
  readonly #root: Node = newNode();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#add(route);
  }

  /** `path` is the raw path of the request target, without query. */
  match(method: string, path: string): Match {
    const segments = path.split('/').slice(1);
    const candidates: { node: Node; values: [string, string][] }[] = [];
    collect(this.#root, segments, 0, [], candidates);
    const wanted = method === 'HEAD' ? 'GET' : method;
    for (const { node, values } of candidates) {
      const route = node.methods.get(wanted);
      if (route !== undefined) return { kind: 'route', route, params: Object.fromEntries(values) };
    }
    const allow = new Set(candidates.flatMap(({ node }) => [...node.methods.keys()]));
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

function newNode(): Node {
  return { literals: new Map(), parameter: null, methods: new Map() };
}

function literalChild(node: Node, segment: string): Node {
  const known = node.literals.get(segment);
  if (known !== undefined) return known;
  const child = newNode();
  node.literals.set(segment, child);
  return child;
}

function parameterChild(node: Node, name: string, route: Route): Node {
  node.parameter ??= { name, node: newNode() };
  if (node.parameter.name !== name) {
    throw new Error(`${route.path}: this segment is called {${node.parameter.name}} elsewhere`);
  }
  return node.parameter.node;
}

function collect(
  node: Node,
  segments: readonly string[],
  at: number,
  values: [string, string][],
  found: { node: Node; values: [string, string][] }[],
): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (node.methods.size > 0) found.push({ node, values });
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) collect(literal, segments, at + 1, values, found);
  if (node.parameter !== null && segment !== '') {
    const { name, node: child } = node.parameter;
    collect(child, segments, at + 1, [...values, [name, decodeSegment(segment)]], found);
  }
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    // A malformed escape names nothing: it stays as it is and is found nowhere.
    return segment;
  }
}
