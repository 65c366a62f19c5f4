import type { Field } from './field.ts';
import type { Model } from './model.ts';

/** How a model stands in PostgreSQL. Names are derived, never written twice. */
export interface Column {
  readonly field: string;
  readonly name: string;
  readonly type: Field['sqlType'];
  readonly nullable: boolean;
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Every field of the record as a column. */
export function columnsOf(declared: Model): readonly Column[] {
  const own = Object.entries(declared.fields).map(([field, { sqlType, nullable }]) => ({
    field,
    name: snakeCase(field),
    type: sqlType,
    nullable,
  }));
  const kept: Column[] = [
    { field: 'createdAt', name: 'created_at', type: 'timestamptz', nullable: false },
    { field: 'updatedAt', name: 'updated_at', type: 'timestamptz', nullable: false },
  ];
  if (declared.archivable) kept.push({ field: 'archivedAt', name: 'archived_at', type: 'timestamptz', nullable: true });
  return [{ field: 'id', name: 'id', type: 'uuid', nullable: false }, ...own, ...kept];
}
