import type { World } from '@wts/testkit';
import { setTimeout as pause } from 'node:timers/promises';

export interface Disturbance {
  readonly name: string;
  readonly happen: () => Promise<void>;
}

const READY_MS = 60_000;
const ASLEEP_MS = 5_000;
const AWAY_MS = 2_000;

/** One turn: every process is killed, those that can sleep sleep and wake as zombies, the stores go away and come back. */
export function disturbancesOf(world: World): Disturbance[] {
  const places = [
    ['sync', 0],
    ['sync', 1],
    ['gateway', 0],
    ['workspace', 0],
  ] as const;
  const nameOf = (service: string, replica: number): string => (service === 'sync' ? `sync ${replica + 1}` : service);
  const kills = places.map(([service, replica]) => ({
    name: `SIGKILL ${nameOf(service, replica)}`,
    happen: async () => {
      const process = world.service(service, replica);
      await process.kill('SIGKILL');
      await pause(AWAY_MS / 4);
      await process.start();
      await process.untilReady(READY_MS);
    },
  }));
  const sleeps = places.slice(0, 3).map(([service, replica]) => ({
    name: `SIGSTOP ${nameOf(service, replica)}`,
    happen: async () => {
      world.service(service, replica).pause();
      await pause(service === 'gateway' ? AWAY_MS : ASLEEP_MS);
      world.service(service, replica).resume();
    },
  }));
  const restarts = places.slice(0, 2).map(([service, replica]) => ({
    name: `rolling restart of ${nameOf(service, replica)}`,
    happen: () => world.service(service, replica).restart(READY_MS),
  }));
  const stores = [
    { name: 'SIGKILL NATS', server: world.nats },
    { name: 'SIGKILL PostgreSQL', server: world.postgres },
  ].map(({ name, server }) => ({
    name,
    happen: async () => {
      await server.kill();
      await pause(AWAY_MS);
      await server.start();
    },
  }));
  const [nats, postgres] = stores as [Disturbance, Disturbance];
  return [...kills.slice(0, 2), nats, ...sleeps, ...kills.slice(2), postgres, ...restarts];
}
