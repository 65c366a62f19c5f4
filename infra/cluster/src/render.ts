import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { LOCAL, UserError } from '@wts/local';
import { DISPATCHER_SETTINGS } from '@wts/verify';
import { OWN_ADDRESS } from './network.ts';
import { HOME, run } from './podman.ts';

const CHART = join(dirname(LOCAL), 'infra/chart');

/** The helm of the machine, or of HELM. */
export function requireHelm(): string {
  const helm = process.env['HELM'] ?? 'helm';
  if (spawnSync(helm, ['version']).status !== 0)
    throw new UserError('npm run cluster needs Helm 3 or 4. Put it on PATH, or set HELM to the program.');
  return helm;
}

/** What the chart renders for this cluster: two replicas of each service, which is its default. */
export async function render(helm: string, tag: string, chart = CHART): Promise<string> {
  const values = join(HOME, 'values.json');
  writeFileSync(
    values,
    JSON.stringify({
      baseUrl: `http://${OWN_ADDRESS}:4000`,
      authUrl: `http://${OWN_ADDRESS}:4001`,
      image: { registry: 'localhost', tag },
      nats: { streamReplicas: 3 },
      extraCa: { existingSecret: 'wts-ca' },
      services: {
        auth: { settings: { PASSWORD_COST_LOG2: 14 } },
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
  return run(helm, ['template', 'wts', chart, '--values', values]);
}
