import { taskKey } from '@wts/client/names';

/** A record that a search finds, or that has an address. */
export type FoundNode =
  | {
      readonly __typename: 'Task';
      readonly id: string;
      readonly number: number;
      readonly title: string;
      readonly workspace: { readonly urlKey: string } | null;
    }
  | { readonly __typename: 'Project'; readonly id: string; readonly key: string; readonly name: string }
  | { readonly __typename: 'Comment'; readonly id: string; readonly body: string };

export const FOUND_FRAGMENTS = `fragment FoundTask on Task { number title workspace { urlKey } }
fragment FoundProject on Project { key name }
fragment FoundComment on Comment { body }`;

const TITLE_CHARS_MAX = 100;

export function recordTitle(node: FoundNode): string {
  if (node.__typename === 'Task') return `${taskKey(node.workspace?.urlKey ?? '', node.number)} ${node.title}`;
  if (node.__typename === 'Project') return `${node.key} ${node.name}`;
  const line = node.body.replaceAll(/\s+/g, ' ').trim();
  return line.length > TITLE_CHARS_MAX ? `${[...line].slice(0, TITLE_CHARS_MAX).join('')}…` : line;
}

/** The address of a record as a resource. */
export function recordUri({ __typename, id }: Pick<FoundNode, '__typename' | 'id'>): string {
  return `wts://${__typename.toLowerCase()}/${id}`;
}
