import { z } from 'zod';
import { DRAFT_TOOLS } from './drafts.js';
import { EVENT_TOOLS } from './events.js';
import { INBOX_TOOLS } from './inboxes.js';
import { LABEL_TOOLS } from './labels.js';
import { MESSAGE_TOOLS } from './messages.js';
import { SENDING_TOOLS } from './sending.js';
import { THREAD_TOOLS } from './threads.js';
import type { ToolSpec } from './tool.js';
import { UPLOAD_TOOLS } from './uploads.js';

/** Every tool by its name, in the order in which they are listed. */
export const TOOLS = {
  ...INBOX_TOOLS,
  ...MESSAGE_TOOLS,
  ...LABEL_TOOLS,
  ...SENDING_TOOLS,
  ...UPLOAD_TOOLS,
  ...DRAFT_TOOLS,
  ...THREAD_TOOLS,
  ...EVENT_TOOLS,
} as const satisfies Readonly<Record<string, ToolSpec>>;

export type ToolName = keyof typeof TOOLS;

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: ToolSpec['annotations'];
}

export type ObjectSchema = { readonly type: 'object' } & { readonly [keyword: string]: unknown };

/** @param allowsErasing whether tools that delete for good are among them */
export function listTools(allowsErasing: boolean): readonly ListedTool[] {
  return (Object.keys(TOOLS) as ToolName[]).flatMap(name => {
    const { title, description, annotations, input, output, isPermanent }: ToolSpec = TOOLS[name];
    if (isPermanent === true && !allowsErasing) return [];
    const [inputSchema, outputSchema] = [jsonSchema(input), jsonSchema(output)];
    return [{ name, title, description, inputSchema, outputSchema, annotations }];
  });
}

/** JSON Schema (draft 2020-12) without references, of which not every client can make something. */
function jsonSchema(type: z.ZodObject): ObjectSchema {
  const { $schema, $defs = {}, ...schema } = z.toJSONSchema(type, { io: 'input' });
  return whole(schema, $defs as Readonly<Record<string, unknown>>) as ObjectSchema;
}

/** Puts the type where the reference to it stands; leaves out names, examples and keywords of our own. */
function whole(schema: unknown, types: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(schema)) return schema.map(item => whole(item, types));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, ...rest } = schema as { readonly $ref?: unknown };
  const named = typeof $ref === 'string' ? types[$ref.replace('#/$defs/', '')] : undefined;
  const members = { ...(named as object | undefined), ...rest };
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) =>
      isLeftOut(name, member) ? [] : [[name, whole(member, types)]],
    ),
  );
}

/** `id` and `examples` are keywords only where they are no properties: then they are no schemas. */
function isLeftOut(name: string, member: unknown): boolean {
  if (name.startsWith('x-')) return true;
  return (name === 'id' && typeof member === 'string') || (name === 'examples' && Array.isArray(member));
}
