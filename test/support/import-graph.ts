import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, sep } from 'node:path';
import ts from 'typescript';

/** One file's use of another module, as written. */
export interface Import {
  /** The importing file, relative to the source root: `http/server.ts`. */
  readonly from: string;
  readonly line: number;
  /** As it stands in the source: `../domain/ids.js`, `zod`, `node:fs`. */
  readonly specifier: string;
  /** `import type`: nothing of the module is loaded. (`import { type T }` still loads it, see verbatimModuleSyntax.) */
  readonly isTypeOnly: boolean;
  readonly target: ImportTarget;
}

export type ImportTarget =
  /** A file of ours, relative to the source root. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'missing'; readonly path: string }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'builtin'; readonly name: string };

export interface ImportGraph {
  readonly files: readonly string[];
  readonly imports: readonly Import[];
}

/** Reads every TypeScript file under `sourceRoot`. Tests beside the sources would be read like any file. */
export function readImportGraph(sourceRoot: string): ImportGraph {
  const files = readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => file.split(sep).join('/'))
    .sort();
  const known = new Set(files);
  const imports = files.flatMap(file => {
    const text = readFileSync(join(sourceRoot, file), 'utf8');
    return findReferences(file, text).map(({ specifier, line, isTypeOnly }) => ({
      from: file,
      line,
      specifier,
      isTypeOnly,
      target: resolve(file, specifier, known),
    }));
  });
  return { files, imports };
}

interface Reference {
  readonly specifier: string;
  readonly line: number;
  readonly isTypeOnly: boolean;
}

/**
 * Static imports, `export ... from`, `import()` of a literal, `import('x').Type`, and scripts named by
 * `new URL('./x.js', import.meta.url)`: that is how a worker thread is started.
 */
function findReferences(file: string, text: string): Reference[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, false, ts.ScriptKind.TS);
  const found: Reference[] = [];
  const add = (literal: ts.StringLiteralLike, isTypeOnly: boolean) => {
    const { line } = source.getLineAndCharacterOfPosition(literal.getStart(source));
    found.push({ specifier: literal.text, line: line + 1, isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteralLike(node.moduleSpecifier)) {
      add(node.moduleSpecifier, node.importClause?.isTypeOnly === true);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      if (ts.isStringLiteralLike(node.moduleSpecifier)) add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteralLike(node.argument.literal)) add(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier !== undefined && ts.isStringLiteralLike(specifier)) add(specifier, false);
    } else if (ts.isNewExpression(node)) {
      const script = scriptUrl(node, source);
      if (script !== undefined) add(script, false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function scriptUrl(node: ts.NewExpression, source: ts.SourceFile): ts.StringLiteralLike | undefined {
  const [path, base] = node.arguments ?? [];
  if (node.expression.getText(source) !== 'URL' || base?.getText(source) !== 'import.meta.url')
    return undefined;
  return path !== undefined && ts.isStringLiteralLike(path) && path.text.endsWith('.js') ? path : undefined;
}

function resolve(from: string, specifier: string, known: ReadonlySet<string>): ImportTarget {
  if (specifier.startsWith('.')) {
    const path = join(dirname(from), specifier).split(sep).join('/').replace(/\.js$/, '.ts');
    return known.has(path) ? { kind: 'file', path } : { kind: 'missing', path };
  }
  if (isBuiltin(specifier)) return { kind: 'builtin', name: specifier.replace(/^node:/, '') };
  const [first = '', second = ''] = specifier.split('/');
  return { kind: 'package', name: first.startsWith('@') ? `${first}/${second}` : first };
}

/**
 * The import cycles, each as its files in order (`a.ts, b.ts`: a imports b, b imports a). One cycle is
 * reported for each knot of files that reach one another; untying it shows the next.
 */
export function findCycles(graph: ImportGraph): readonly (readonly string[])[] {
  const next = new Map<string, string[]>(graph.files.map(file => [file, []]));
  for (const { from, target } of graph.imports) {
    if (target.kind === 'file') next.get(from)?.push(target.path);
  }
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const walk = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) cycles.push(path.slice(start));
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of next.get(file) ?? []) walk(target);
    path.pop();
    done.add(file);
  };
  for (const file of graph.files) walk(file);
  return cycles;
}
