export type { Field, Reference } from './field.ts';
export type { Audience, Model, Permission } from './model.ts';
export * from './record.ts';
export * from './registry.ts';
export * from './schema.ts';
export * from './sql.ts';
