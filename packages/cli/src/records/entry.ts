/** How entries of the log are shown. */

interface ShownEntry {
  readonly action: string;
  readonly data: object;
}

const WORDS: Readonly<Record<string, string>> = {
  INSERT: 'created',
  UPDATE: 'changed',
  DELETE: 'deleted',
  ARCHIVE: 'archived',
  UNARCHIVE: 'restored',
};

export function actionText({ action }: Pick<ShownEntry, 'action'>): string {
  return WORDS[action] ?? action;
}

/** What an update changed; what else there is in the log is not shown, because a record has many fields. */
export function fieldsText({ action, data }: ShownEntry): string {
  if (action !== 'UPDATE') return '';
  const changed = Object.entries(data).filter(([name]) => name !== 'updatedAt');
  return changed.map(([name, value]) => `${name}: ${valueText(value)}`).join(', ');
}

/** As a person writes it: texts without quotes. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
