/**
 * `npm run storm`: starts a system with two gateways, opens sockets, drops all of them at the
 * same time and lets them reconnect: when a gateway is killed, when a sync replica is killed, and when a gateway restarts.
 * Exits with 0 when every client received everything once and in order and no other client got an unexpected error;
 * otherwise with 1.
 */
import { optionsOrExit } from '@wts/local';
import { openFilesMax } from '@wts/service-kit/life';
import { startTestSystem } from '@wts/testkit';
import { numbersOrExit } from '../numbers.ts';
import { ControlClient } from './control-client.ts';
import { StormClients } from './storm-clients.ts';
import { dropAndReconnect, linesOf, problemsOf, type Disruption } from './drop-and-reconnect.ts';

const USAGE = `npm run storm [-- options]

  --clients N    clients that reconnect, default 5000
  --people N     people they belong to, default 50`;

const values = optionsOrExit(USAGE, {
  clients: { type: 'string', default: '5000' },
  people: { type: 'string', default: '50' },
});
const RELOAD_ONE_IN = 10;
/** A gateway needs two open files for each client, and some for itself. */
const FILES_PER_CLIENT = 2.5;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const { clients, people } = numbersOrExit(values, { clients: 1, people: 1 });
const files = Math.ceil(clients * FILES_PER_CLIENT) + 500;
if (openFilesMax() < files) {
  print(`A process needs up to ${files} open files for ${clients} clients, but the limit here is ${openFilesMax()}.`);
  print(
    `Raise the limit (ulimit -n ${files}), or use fewer clients: npm run storm -- --clients ${Math.floor((openFilesMax() - 500) / FILES_PER_CLIENT)}`,
  );
  process.exitCode = 1;
} else {
  process.exitCode = (await storm()) ? 0 : 1;
}

async function storm(): Promise<boolean> {
  await using testSystem = await startTestSystem({ label: 'storm', replicas: { sync: 2, gateway: 2 } });
  const [first, second, sync] = [
    testSystem.service('gateway', 0),
    testSystem.service('gateway', 1),
    testSystem.service('sync', 0),
  ];
  await using control = await ControlClient.start(testSystem);
  await using storm = await StormClients.open(testSystem, { clients, people, reloadOneIn: RELOAD_ONE_IN });
  print(
    `${clients} sockets of ${people} people, two gateways, two sync replicas; one client in ${RELOAD_ONE_IN} loads everything again when it reconnects`,
  );
  const disruptions: (Disruption & { readonly repair: () => Promise<void> })[] = [
    {
      name: 'The first gateway is killed: all clients reconnect to the second',
      baseUrl: second.url,
      run: () => first.kill(),
      repair: () => first.start(),
    },
    {
      name: 'A sync replica is killed: half of the clients reconnect to the other replica',
      baseUrl: second.url,
      run: () => sync.kill(),
      repair: () => sync.start(),
    },
    {
      name: 'The second gateway restarts: all clients reconnect to the first',
      baseUrl: first.url,
      run: () => second.restart(),
      repair: async () => {},
    },
  ];
  let isPassed = true;
  for (const disruption of disruptions) {
    print(`\n${disruption.name}`);
    const result = await dropAndReconnect(testSystem, storm, control, disruption);
    for (const line of linesOf(result)) print(line);
    isPassed &&= problemsOf(result).length === 0;
    await disruption.repair();
    await testSystem.untilReady();
  }
  print(
    isPassed
      ? '\nPassed: every client has everything, and no other client got an unexpected error.'
      : '\nFAILED: see the lines marked BROKEN.',
  );
  return isPassed;
}
