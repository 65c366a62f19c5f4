import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { LOCAL, UserError } from '@wts/local';
import { DISPATCHER_SETTINGS } from '@wts/verify';
import { OWN_ADDRESS } from './network.ts';
import { FIRST, SECOND, type Place } from './place.ts';
import { HOME, run } from './podman.ts';

const CHART = join(dirname(LOCAL), 'infra/chart');

/** The helm of the machine, or of HELM. */
export function requireHelm(): string {
  const helm = process.env['HELM'] ?? 'helm';
  if (spawnSync(helm, ['version']).status !== 0)
    throw new UserError('npm run cluster needs Helm 3 or 4. Put it on PATH, or set HELM to the program.');
  return helm;
}

/** What the values of a cell are, besides those of every cluster. */
export interface CellValues {
  readonly place: Place;
  readonly auth?: object;
  readonly others?: object;
}

/** The key of the Secret of the first cell with the address of the NATS of the second. */
export const SECOND_NATS_KEY = 'CELL_1_NATS_URL';
export const AUTH_KEYS_KEY = 'AUTH_INTERNAL_TOKEN_PUBLIC_KEYS';

/** The cell with auth, beside `SECOND_CELL`, as in the examples of the chart. */
export const FIRST_CELL: CellValues = {
  place: FIRST,
  auth: { secrets: { INTERNAL_TOKEN_PUBLIC_KEYS: { key: AUTH_KEYS_KEY } } },
  others: {
    cells: [
      {
        shard: SECOND.shard,
        baseUrl: baseUrlOf(SECOND),
        syncUrl: `http://${SECOND.release}-sync:8080`,
        workspaceUrl: `http://${SECOND.release}-workspace:8080`,
        dispatcherUrl: `http://${SECOND.release}-webhook-dispatcher:8080`,
        natsUrl: { existingSecret: 'wts-secrets', key: SECOND_NATS_KEY },
      },
    ],
  },
};

/** One pod of each service, because the fault takes all of them. */
export const SECOND_CELL: CellValues = {
  place: SECOND,
  auth: { enabled: false, url: `http://${FIRST.release}-auth:8080` },
  others: { cell: { shard: SECOND.shard, name: 'one' }, defaults: { replicas: 1 } },
};

export function baseUrlOf({ apiPort }: Place): string {
  return `http://${OWN_ADDRESS}:${apiPort}`;
}

/** What the chart renders for this cluster: two replicas of each service, which is its default. */
export async function render(
  helm: string,
  tag: string,
  { place, auth, others }: CellValues = { place: FIRST },
): Promise<string> {
  const values = join(HOME, `values-${place.release}.json`);
  writeFileSync(
    values,
    JSON.stringify({
      baseUrl: baseUrlOf(place),
      authUrl: `http://${OWN_ADDRESS}:4001`,
      image: { registry: 'localhost', tag },
      nats: { streamReplicas: place.natsCount },
      ...others,
      extraCa: { existingSecret: 'wts-ca' },
      services: {
        auth: { settings: { PASSWORD_COST_LOG2: 14 }, ...auth },
        'webhook-dispatcher': {
          settings: {
            ...DISPATCHER_SETTINGS,
            // The consumers of a run.
            WEBHOOK_ALLOWED_CIDRS: [`${OWN_ADDRESS}/32`],
            WEBHOOK_EXTRA_CA_FILE: '/etc/wts/ca/ca.crt',
          },
        },
      },
    }),
  );
  return run(helm, ['template', place.release, CHART, '--values', values]);
}
