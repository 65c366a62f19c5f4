import { html, type Html } from './html.ts';
import type { Page } from './layout.ts';

interface Message {
  readonly title: string;
  readonly text: string;
  /** Where the person can go from here. */
  readonly link?: { readonly to: string; readonly label: string };
  /** To quote when asking for help. */
  readonly requestId?: string;
}

/** One heading, one sentence, and a way on: for faults and for results. */
export function messagePage({ title, text, link, requestId }: Message): Page {
  const button: Html | null =
    link === undefined ? null : html`<a class="button plain" href="${link.to}">${link.label}</a>`;
  return {
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>
      ${button} ${requestId === undefined ? null : html`<p class="foot small">Request ${requestId}</p>`}`,
  };
}
