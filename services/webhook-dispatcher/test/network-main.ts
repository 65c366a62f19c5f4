import { receiver, testAuthority } from '@wts/testkit';
import { execFileSync } from 'node:child_process';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { dnsServer } from './dns-server.ts';
import type { Network, Scene, Seen } from './network.ts';
import { testSender } from './sender.ts';

/*
 * A program of the tests: consumers, a DNS server, tripwires and the real sender on one network. As `namespace` it is
 * started in a network namespace of its own, where any address can be given to the loopback device; as `loopback` on this
 * machine's network, whose loopback addresses stand in for public and private ones.
 */

const PORT = 8_443;
const NETWORKS: Readonly<Record<string, Network & { readonly allowedCidrs: readonly string[] }>> = {
  namespace: {
    publicAddress: '11.22.33.44',
    otherPublicAddress: '2a00:1450::44',
    privateAddresses: [
      '127.0.0.1',
      '10.1.2.3',
      '172.16.1.1',
      '192.168.7.7',
      '100.100.100.200',
      '169.254.169.254',
      '168.63.129.16',
      '192.0.0.192',
      '::1',
      'fd00:ec2::254',
      '64:ff9b::7f00:1',
      '2002:7f00:1::1',
    ],
    port: PORT,
    allowedCidrs: [],
  },
  loopback: {
    publicAddress: '127.0.0.1',
    otherPublicAddress: '127.0.0.1',
    privateAddresses: ['127.0.0.2', '127.0.0.3', '::1'],
    port: PORT,
    allowedCidrs: ['127.0.0.1'],
  },
};

const [kind = ''] = process.argv.slice(2);
const network = NETWORKS[kind];
if (network === undefined) throw new Error(`no such network: ${kind}`);
const { publicAddress, otherPublicAddress, privateAddresses, allowedCidrs } = network;
if (kind === 'namespace') makeAddresses([publicAddress, otherPublicAddress, ...privateAddresses]);

const authority = await testAuthority();
const identity = await authority.issue({
  hosts: ['consumer.test', '*.consumer.test', publicAddress, otherPublicAddress],
});
const consumers = [await receiver({ identity, host: publicAddress, port: kind === 'namespace' ? PORT : 0 })];
const port = Number(new URL(consumers[0]?.url ?? '').port);
if (otherPublicAddress !== publicAddress) consumers.push(await receiver({ identity, host: otherPublicAddress, port }));
for (const consumer of consumers) consumer.answer(({ path }) => answerTo(new URL(path, 'https://consumer.test')));

const trips: string[] = [];
const armed = await Promise.all(
  privateAddresses.map(async (address) => ((await tripwire(address, port)) ? address : null)),
);
// A proxy of the environment would be a way around the guard.
const proxy = `http://${privateAddresses[0]}:${port}`;
Object.assign(process.env, { HTTPS_PROXY: proxy, https_proxy: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' });

process.on('message', (scene: Scene) => void play(scene).then((seen) => process.send?.(seen)));
process.on('disconnect', () => process.exit());
const ready: Network = {
  publicAddress,
  otherPublicAddress,
  privateAddresses: armed.filter((address) => address !== null),
  port,
};
process.send?.(ready);

/** Each scene has a sender and a DNS server of its own, so nothing is cached from the one before. */
async function play({ names, urls }: Scene): Promise<Seen> {
  await using dns = await dnsServer();
  for (const [name, answers] of Object.entries(names)) dns.set(name, ...answers);
  await using sender = testSender({ authority, allowedCidrs, dnsServers: [dns.address], deadlineMs: 3_000 });
  const [requestsBefore, tripsBefore] = [requestCount(), trips.length];
  const results = [];
  for (const url of urls) results.push(await sender.send(url));
  // What was sent to a tripwire arrives before what is sent to it afterwards.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    results,
    requestCount: requestCount() - requestsBefore,
    trips: trips.slice(tripsBefore),
    queryCount: dns.queries.length,
    blocked: sender.blocked,
    connections: sender.connections,
  };
}

function requestCount(): number {
  return consumers.reduce((sum, { received }) => sum + received.length, 0);
}

function answerTo({ pathname, searchParams }: URL): { status: number; headers?: Record<string, string> } {
  if (pathname === '/close') return { status: 200, headers: { connection: 'close' } };
  if (pathname === '/redirect') return { status: 307, headers: { location: searchParams.get('to') ?? '' } };
  return { status: 200 };
}

/** False where the machine has no such address. */
async function tripwire(address: string, tripPort: number): Promise<boolean> {
  const server: Server = createServer((socket: Socket) => {
    trips.push(address);
    socket.destroy();
  });
  return new Promise((resolve) => {
    server.on('error', () => resolve(false));
    server.listen({ port: tripPort, host: address, ipv6Only: true }, () => resolve(true));
  });
}

function makeAddresses(addresses: readonly string[]): void {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  for (const address of addresses.filter((one) => one !== '127.0.0.1' && one !== '::1'))
    execFileSync('ip', ['addr', 'add', `${address}/${isIPv6(address) ? 128 : 32}`, 'dev', 'lo']);
}
