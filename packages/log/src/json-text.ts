const texts = new WeakMap<object, string>();

/** The JSON text of an object that never changes, made once. The text of a new record was already made to store it. */
export function jsonTextOf(value: object): string {
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = JSON.stringify(value)));
  return text;
}

/** Sets the text of an object, where it is known. */
export function withJsonText<T extends object>(value: T, text: string): T {
  texts.set(value, text);
  return value;
}
