/** `npm run models`: writes the types that follow from packages/models and packages/contracts. A test compares the files with them. */
import { ACTIONS, ERROR_CODES, webhookApi } from '@wts/contracts';
import { MODELS, insertSchema, recordSchema, setChangesOf, updateSchema, type Model } from '@wts/models';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationRowsText, operationsText } from './write-operations.ts';
import { members, typeOf, union, type Schema } from './write-types.ts';

const HEAD = '// Written by `npm run models` in packages/client. Do not edit.\n';

/** The generated files, by their names in `src/`. */
export function generatedFiles(): Readonly<Record<string, string>> {
  const rows = MODELS.map((declared) => `  readonly ${declared.name}: {\n${row(declared)}  };\n`).join('');
  return {
    'models.ts': `${HEAD}
${MODELS.map(recordOf).join('\n')}
/** What a client may send of each model: \`needed\` has no default, \`assigned\` is set by the server, \`fixed\` only on creation, \`commands\` are \`true\` or a day. */
export interface Models {
${rows}}
`,
    'codes.ts': `${HEAD}
/** The \`code\` of an error of the server. */
export type ErrorCode =
${members(ERROR_CODES)};

/** The \`type\` of a delivery. */
export type EventType =
${members([...webhookApi.EVENT_TYPES, webhookApi.TEST_EVENT_TYPE])};
`,
    'api/operations.ts': `${HEAD}${operationsText()}`,
    'api/operation-rows.ts': `${HEAD}${operationRowsText()}`,
  };
}

function recordOf(declared: Model): string {
  const { properties } = recordSchema(declared) as { properties: Readonly<Record<string, Schema>> };
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${doc(schema['description'] as string, '  ')}  readonly ${name}: ${typeOf(schema)};\n`,
  );
  return `${doc(declared.doc, '')}export type ${declared.name} = {\n${fields.join('')}};\n`;
}

function row(declared: Model): string {
  const fields = Object.entries(declared.fields);
  const inserted = insertSchema(declared);
  const { insert, update } = { insert: inserted !== null, update: updateSchema(declared) !== null };
  const allowed: Readonly<Record<(typeof ACTIONS)[number], boolean>> = {
    INSERT: insert,
    UPDATE: update,
    DELETE: declared.permissions.delete !== 'service',
    ARCHIVE: declared.archivable,
    UNARCHIVE: declared.archivable,
  };
  const sets = setChangesOf(declared).flatMap(({ added, removed }) => [added, removed]);
  const rules = {
    actions: ACTIONS.filter((action) => allowed[action]),
    needed: (inserted?.['required'] ?? []) as readonly string[],
    assigned: fields.filter(([, { assigned }]) => assigned !== undefined).map(([name]) => name),
    fixed: fields.filter(([, { assigned, immutable }]) => immutable && assigned === undefined).map(([name]) => name),
    sets,
    commands: Object.keys(declared.commands),
  };
  const lines = Object.entries(rules).map(([name, values]) => {
    const line = `    readonly ${name}: ${union(values)};\n`;
    if (line.length <= LINE_CHARS_MAX) return line;
    return `    readonly ${name}:${values.map((value) => `\n      | '${value}'`).join('')};\n`;
  });
  return `    readonly record: ${declared.name};\n${lines.join('')}`;
}

/** As the formatter wraps lines. */
const LINE_CHARS_MAX = 121;

const doc = (text: string, indent: string): string => `${indent}/** ${text} */\n`;

if (import.meta.main) {
  for (const [name, text] of Object.entries(generatedFiles()))
    writeFileSync(join(import.meta.dirname, 'src', name), text);
}
