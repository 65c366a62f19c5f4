import type { SyncEvent } from '@wts/client';

/** The lines that `npm run watch` prints. The attempts of one outage have one line together, and its end has one. */
export class WatchLines {
  #state: 'new' | 'live' | 'offline' = 'new';

  of(event: SyncEvent): string[] {
    if (event.type === 'reset') return ['The log no longer has the next changes. Continuing with new changes.'];
    if (event.type === 'offline') {
      const isKnown = this.#state === 'offline';
      this.#state = 'offline';
      return isKnown ? [] : [`Disconnected (${event.error.message}). Trying again until the service is back.`];
    }
    if (event.type === 'subscribed') {
      const before = this.#state;
      this.#state = 'live';
      return before === 'offline' ? ['Connected again.'] : ['Watching. Press Ctrl-C to stop.'];
    }
    return event.type === 'delta' ? event.actions.map(lineOf) : [];
  }
}

type Action = Extract<SyncEvent, { type: 'delta' }>['actions'][number];

function lineOf({ syncId, action, modelName, modelId, data }: Action): string {
  return `${syncId.padStart(6)}  ${action.padEnd(9)} ${modelName} ${modelId}  ${JSON.stringify(visibleFields(data))}`;
}

/** Leaves out empty fields, and fields that the line shows or that never matter. */
function visibleFields(change: object): object {
  const hidden = new Set(['id', 'workspaceId', 'createdAt', 'updatedAt']);
  return Object.fromEntries(
    Object.entries(change).filter(
      ([field, value]) =>
        !hidden.has(field) && value !== '' && ((value !== null && value !== false) || !('id' in change)),
    ),
  );
}
