import { z } from 'zod';

/*
 * Many clients write null for a field that they leave out. The published types say string or array, and stay so; what
 * null stands for is put in its place before a body is validated.
 */

/**
 * What null stands for in an optional field that does not take it: the field is left out, or emptied. It stands in the
 * `meta` of the type of a body; without it, null is judged as it is.
 */
export type NullMeaning = 'absent' | 'empty';

/** A body with what null stands for in its place, at any depth; what is not right otherwise stays for the validation. */
export function readNulls(schema: z.ZodType, body: Readonly<Record<string, unknown>>): unknown {
  const meaning = schema.meta()?.['x-null-means'] as NullMeaning | undefined;
  return meaning === undefined ? body : withoutNulls(schema, body, meaning);
}

/** @param meaning of the object's own fields; further inside, null always means absent */
function withoutNulls(schema: z.ZodType, value: unknown, meaning: NullMeaning): unknown {
  if (Array.isArray(value)) {
    if (!(schema instanceof z.ZodArray)) return value;
    const element = schema.element as z.ZodType;
    return value.map(item => withoutNulls(element, item, 'absent'));
  }
  if (typeof value !== 'object' || value === null) return value;
  const shape = shapeOf(schema);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
      if (field === undefined) return [[name, member]];
      if (member !== null || field.safeParse(null).success) {
        return [[name, withoutNulls(unwrapped(field), member, 'absent')]];
      }
      if (!(field instanceof z.ZodOptional)) return [[name, null]];
      return meaning === 'absent' ? [] : [[name, field.safeParse([]).success ? [] : '']];
    }),
  );
}

type Shape = Readonly<Record<string, z.ZodType>>;

/** The fields of an object, or of all objects that a union may be. */
function shapeOf(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodObject) return schema.shape;
  return schema instanceof z.ZodUnion ? shapeOfUnion(schema) : {};
}

/** Made once: making a type takes longer than checking a value. */
const unionShapes = new WeakMap<z.ZodUnion, Shape>();

/** A field that only some of the objects have is as good as optional: null leaves it out. */
function shapeOfUnion(union: z.ZodUnion): Shape {
  const known = unionShapes.get(union);
  if (known !== undefined) return known;
  const options = union.options.map(option => shapeOf(option as z.ZodType));
  const all: Record<string, z.ZodType> = {};
  for (const [name, field] of options.flatMap(option => Object.entries(option))) {
    const isShared = options.every(option => Object.hasOwn(option, name));
    all[name] = isShared || field instanceof z.ZodOptional ? field : field.optional();
  }
  unionShapes.set(union, all);
  return all;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;
}
