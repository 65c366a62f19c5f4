/**
 * Characters that no client shows, which models read: format characters and tags (as letters), and selectors of glyphs, of which sixteen of
 * each carry any text. Joiners and the two selectors of emoji stay, one at a time: Persian words and emoji need them.
 */
const HIDDEN =
  /(?![\u200C\u200D])[\p{Cf}\p{Co}\p{Cn}]|[\uFE00-\uFE0D]|[\u{E0100}-\u{E01EF}]|(?:\u200C|\u200D|\uFE0E|\uFE0F)(?=\u200C|\u200D|\uFE0E|\uFE0F)/gu;

/** A result without what only a model would see of the texts in it. Keeps agent.texts.visible. */
export function visibleTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(HIDDEN, '');
  if (Array.isArray(value)) return value.map(visibleTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visibleTexts(one)]));
}
