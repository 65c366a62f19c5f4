import { createSocket, type RemoteInfo } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import { once } from 'node:events';
import ipaddr from 'ipaddr.js';

/** What the server answers to one query. */
export type DnsAnswer =
  /** Addresses; those of the other family than the one asked for are left out. */
  | {
      readonly addresses: readonly string[];
      readonly ttl?: number;
      readonly alias?: string;
      /** One family is not answered for. */
      readonly silentFor?: 'A' | 'AAAA';
    }
  | 'nxdomain'
  | 'servfail'
  | 'silent';

/** A DNS server that answers each query as the test says: exact about which query gets what, as no real one is. */
export interface DnsServer extends AsyncDisposable {
  /** `address:port`. */
  readonly address: string;
  /** Names asked for, one per query and family. */
  readonly queries: readonly string[];
  /** The answers for a name, one per round of queries (A and AAAA together); the last one is repeated. */
  readonly set: (name: string, ...answers: DnsAnswer[]) => void;
}

const [A, AAAA, CNAME] = [1, 28, 5];
const [SERVFAIL, NXDOMAIN] = [2, 3];
/** What a datagram may carry; more is asked for again over TCP. */
const DATAGRAM_BYTES_MAX = 1_232;

export async function dnsServer(): Promise<DnsServer> {
  const script = new Map<string, DnsAnswer[]>();
  const rounds = new Map<string, number>();
  const queries: string[] = [];

  const answerTo = (query: Buffer, send: (reply: Buffer) => void): void => {
    const { name, type, question } = parseQuery(query);
    queries.push(name);
    const key = `${name}/${type}`;
    const round = rounds.get(key) ?? 0;
    rounds.set(key, round + 1);
    const answers = script.get(name) ?? ['nxdomain'];
    const answer = answers[Math.min(round, answers.length - 1)] ?? 'nxdomain';
    if (answer === 'silent') return;
    if (typeof answer === 'object' && answer.silentFor === (type === A ? 'A' : 'AAAA')) return;
    send(replyTo(query, { question, type, answer }));
  };

  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) =>
      answerTo(data.subarray(2), (reply) => socket.write(Buffer.concat([uint16(reply.length), reply]))),
    );
  });
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as { port: number };
  const udp = createSocket('udp4');
  udp.on('message', (query: Buffer, { port: to, address }: RemoteInfo) =>
    answerTo(query, (reply) => {
      udp.send(reply.length > DATAGRAM_BYTES_MAX ? cutShort(query) : reply, to, address);
    }),
  );
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  return {
    address: `127.0.0.1:${port}`,
    queries,
    set: (name, ...answers) => {
      script.set(name, answers);
      rounds.delete(`${name}/${A}`);
      rounds.delete(`${name}/${AAAA}`);
    },
    [Symbol.asyncDispose]: async () => {
      await new Promise<void>((resolve) => udp.close(resolve));
      tcp.close();
    },
  };
}

function parseQuery(query: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  // c-ares mixes upper and lower case in what it asks.
  const name = labels.join('.').toLowerCase();
  return { name, type: query.readUInt16BE(offset + 1), question: query.subarray(12, offset + 5) };
}

/** Says that the answer is too long for a datagram. */
function cutShort(query: Buffer): Buffer {
  const { question } = parseQuery(query);
  return Buffer.concat([query.subarray(0, 2), ...[0x8380, 1, 0, 0, 0].map(uint16), question]);
}

interface Reply {
  readonly question: Buffer;
  readonly type: number;
  readonly answer: Exclude<DnsAnswer, 'silent'>;
}

function replyTo(query: Buffer, { question, type, answer }: Reply): Buffer {
  const code = answer === 'nxdomain' ? NXDOMAIN : answer === 'servfail' ? SERVFAIL : 0;
  const records = typeof answer === 'string' ? [] : recordsOf(answer, type);
  const header = Buffer.concat([query.subarray(0, 2), ...[0x8180 | code, 1, records.length, 0, 0].map(uint16)]);
  return Buffer.concat([header, question, ...records]);
}

function recordsOf(answer: Exclude<DnsAnswer, string>, type: number): Buffer[] {
  const { addresses, ttl = 60, alias } = answer;
  const ofQuestion = Buffer.from([0xc0, 12]);
  const owner = alias === undefined ? ofQuestion : encodeName(alias);
  const records = addresses
    .filter((address) => (isIPv6(address) ? AAAA : A) === type)
    .map((address) => record(owner, type, ttl, Buffer.from(ipaddr.parse(address).toByteArray())));
  return alias === undefined ? records : [record(ofQuestion, CNAME, ttl, encodeName(alias)), ...records];
}

function record(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  return Buffer.concat([owner, uint16(type), uint16(1), uint16(0), uint16(ttl), uint16(data.length), data]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
