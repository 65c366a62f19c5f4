import { LIMITS } from '@wts/contracts';
import type { Page } from '../store/operator-page.ts';

interface PageQuery {
  readonly text?: string;
  readonly after?: string;
  readonly limit?: number;
}

/** One more than the page has, which shows whether there is another page. */
export function pageOf({ text = '', after, limit = LIMITS.listPageDefault }: PageQuery): Page {
  const size = Math.min(Math.max(1, limit), LIMITS.listPageMax);
  return { text: text.trim() === '' ? null : text.trim(), after: after ?? null, limit: size + 1 };
}

export function cut<T>(items: readonly T[], { limit }: Page): { readonly items: T[]; readonly hasMore: boolean } {
  return { items: items.slice(0, limit - 1), hasMore: items.length === limit };
}
