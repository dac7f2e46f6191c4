import { Writable } from 'node:stream';
import MailComposer, { type MailComposerOptions } from 'nodemailer/lib/mail-composer';
import type MimeNode from 'nodemailer/lib/mime-node';

/**
 * What we use of a node in the tree that nodemailer's MailComposer makes of a message; the methods are public, and the
 * library calls each of them on the node, so that one can be replaced. `test/contract/composer-library` fails when a
 * new version changes them.
 */
export type LibraryNode = Pick<
  MimeNode,
  'buildHeaders' | 'content' | 'encodeHeaderValue' | 'getTransferEncoding' | 'stream'
> & { readonly childNodes: readonly LibraryNode[] };

/** Fields whose text is given ready: the library would write addresses anew, as in `a@5.3` to `a@5.0.0.3`. */
const READY = new Set(['From', 'To', 'Cc', 'Subject']);
/** Fields with parameters (RFC 2045 section 5.1, RFC 2183). */
const PARAMETERISED = new Set(['Content-Type', 'Content-Disposition']);

/**
 * The tree of a message. The library decides the structure (RFC 2046 section 5.1, RFC 2387), the boundaries, the
 * parameters of files (RFC 2231) and where lines are folded. It opens no file and no URL.
 * @param options all content in them is encoded already, as its `contentTransferEncoding` says
 * @param type the media type of the whole, where it is not the one that the library would give it
 * @throws Error for header text other than visible ASCII and spaces: no value can begin another field
 */
export function compile(options: MailComposerOptions, type?: string): LibraryNode {
  const root = new MailComposer({ ...options, disableFileAccess: true, disableUrlAccess: true }).compile();
  if (type !== undefined) root.setHeader('Content-Type', type);
  for (const node of nodesOf(root)) {
    if (node.childNodes.length === 0) keepContent(node);
    writeHeader(node);
  }
  return root;
}

function* nodesOf(node: LibraryNode): Generator<LibraryNode> {
  yield node;
  for (const child of node.childNodes) yield* nodesOf(child);
}

/** Writes the header of a node our way, before the library does in a turn of the loop where nobody would catch. */
function writeHeader(node: LibraryNode): void {
  const { encodeHeaderValue, buildHeaders } = node;
  node.encodeHeaderValue = (name, value) => {
    const isReady = READY.has(name) && typeof value === 'string';
    const text = isReady ? value : encodeHeaderValue.call(node, name, value);
    if (!/^[ -~]*$/.test(text)) throw new Error(`${name}: text that no header may hold`);
    return PARAMETERISED.has(name) ? quoteNames(text) : text;
  };
  // Some readers take a field whose first line has no text for an empty one.
  const header = buildHeaders.call(node).replace(/^([\w-]+:)\r\n /gm, '$1 ');
  node.buildHeaders = () => header;
}

/** Quotes the names of files. The library leaves out quotes that some readers need, such as Python's for a `*`. */
function quoteNames(text: string): string {
  return text.replace(
    /"(?:[^"\\]|\\.)*"|\b((?:file)?name(?:\*\d+)?)=([^\s;"]+)/g,
    (whole, parameter: string | undefined, value: string) =>
      parameter === undefined ? whole : `${parameter}="${value}"`,
  );
}

/** Makes a part write its content as it is. The library would encode it again, and text in lines that relays change. */
function keepContent(node: LibraryNode): void {
  const { content } = node;
  if (!Buffer.isBuffer(content)) throw new Error('a part without content');
  node.getTransferEncoding = () => false;
  node.stream = (output, _options, done) => {
    output.write(`${node.buildHeaders()}\r\n\r\n`);
    output.write(content);
    done();
  };
}

/** The bytes of the tree. The library lets other work in between two parts. */
export function write(root: LibraryNode): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const output = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  return new Promise((resolve, reject) => {
    root.stream(output, {}, error => {
      if (error) reject(error);
      else output.end(() => resolve(Buffer.concat(pieces)));
    });
  });
}
