/**
 * `npm run storm [-- --clients 5000 --people 50]`: a system of its own with two doors, clients with open sockets, all of
 * them dropped in one moment and back in the next: by the death of a door, by that of a sync replica, and by a door that
 * restarts. Ends with 0 when every client then has everything, once and in order, and nobody beside them met anything but
 * the designed; with 1 otherwise.
 */
import { openFilesMax } from '@wts/service-kit/life';
import { startTestSystem } from '@wts/testkit';
import { parseArgs } from 'node:util';
import { numbersOrExit } from '../numbers.ts';
import { ControlClient } from './control-client.ts';
import { StormClients } from './storm-clients.ts';
import { faultsOf, dropAndReturn, wordsOf, type Fault } from './drop-and-return.ts';

const { values } = parseArgs({
  options: { clients: { type: 'string', default: '5000' }, people: { type: 'string', default: '50' } },
});
const FORGETFUL_ONE_IN = 10;
/** A door has two for each client, and some for itself. */
const FILES_EACH = 2.5;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const { clients, people } = numbersOrExit(values, { clients: 1, people: 1 });
const files = Math.ceil(clients * FILES_EACH) + 500;
if (openFilesMax() < files) {
  say(`${clients} clients take up to ${files} open files in one process, and ${openFilesMax()} are allowed here.`);
  say(
    `Raise the limit (ulimit -n ${files}), or ask for fewer: npm run storm -- --clients ${Math.floor((openFilesMax() - 500) / FILES_EACH)}`,
  );
  process.exitCode = 1;
} else {
  process.exitCode = (await storm()) ? 0 : 1;
}

async function storm(): Promise<boolean> {
  await using testSystem = await startTestSystem({ label: 'storm', syncReplicas: 2, gatewayReplicas: 2 });
  const [one, other, sync] = [
    testSystem.service('gateway', 0),
    testSystem.service('gateway', 1),
    testSystem.service('sync', 0),
  ];
  await using control = await ControlClient.settle(testSystem);
  await using storm = await StormClients.gather(testSystem, { clients, people, forgetfulOneIn: FORGETFUL_ONE_IN });
  say(
    `${clients} sockets of ${people} people, two doors, two sync replicas; one client in ${FORGETFUL_ONE_IN} comes back without its copy`,
  );
  const faults: (Fault & { readonly mend: () => Promise<void> })[] = [
    {
      name: 'one door is killed: all come to the other',
      door: other.url,
      happen: () => one.kill(),
      mend: () => one.start(),
    },
    {
      name: 'a sync replica is killed: half come to the other',
      door: other.url,
      happen: () => sync.kill(),
      mend: () => sync.start(),
    },
    {
      name: 'the other door restarts: all come to the first',
      door: one.url,
      happen: () => other.restart(),
      mend: async () => {},
    },
  ];
  let isAllSound = true;
  for (const fault of faults) {
    say(`\n${fault.name}`);
    const passage = await dropAndReturn(testSystem, storm, control, fault);
    for (const line of wordsOf(passage)) say(line);
    isAllSound &&= faultsOf(passage).length === 0;
    await fault.mend();
    await testSystem.untilReady();
  }
  say(isAllSound ? '\nSound: everybody has everything, and nobody was harmed.' : '\nNOT SOUND: see above.');
  return isAllSound;
}
