import type { PageQuery } from '@wts/contracts';
import { pageSizeOf } from '@wts/service-kit/routes';
import type { Page } from '../store/operator-page.ts';

/** One more than the page has, which shows whether there is another page. */
export function pageOf({ text = '', after, limit }: PageQuery & { readonly text?: string }): Page {
  return { text: text.trim() === '' ? null : text.trim(), after: after ?? null, limit: pageSizeOf(limit) + 1 };
}

export function cut<T>(items: readonly T[], { limit }: Page): { readonly items: T[]; readonly hasMore: boolean } {
  return { items: items.slice(0, limit - 1), hasMore: items.length === limit };
}
