/**
 * The DNS server of a cluster. A name has an address for each pod that is ready, as a headless Service has; `primary` of
 * PostgreSQL has one address, which moves at a promotion. It answers A questions only, without a time to live.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;
const ANSWER = 0x8180;
const NAME_ERROR = 0x8183;

export async function serveNames(
  host: string,
  addressesOf: (name: string) => readonly string[] | undefined,
): Promise<AsyncDisposable> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => answer(socket, question, addressesOf, { address, port }));
  // A reply to a container that has ended.
  socket.on('error', () => {});
  socket.bind(53, host);
  await once(socket, 'listening');
  return { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(resolve)) };
}

function answer(
  socket: Socket,
  question: Buffer,
  addressesOf: (name: string) => readonly string[] | undefined,
  to: { readonly address: string; readonly port: number },
): void {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  if (question.length < end) return;
  // `auth`, or `auth.<namespace>.svc.cluster.local`.
  const found = addressesOf((labels[0] ?? '').toLowerCase());
  const addresses = question.readUInt16BE(at + 1) === TYPE_A ? (found ?? []) : [];
  const reply = Buffer.from(question.subarray(0, end));
  reply.writeUInt16BE(found === undefined ? NAME_ERROR : ANSWER, 2);
  reply.writeUInt16BE(addresses.length, 6);
  reply.writeUInt32BE(0, 8);
  const records = addresses.map((one) => {
    // The name of the question, type A, class IN, time to live 0, four bytes.
    const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
    record.set(one.split('.').map(Number), 12);
    return record;
  });
  socket.send(Buffer.concat([reply, ...records]), to.port, to.address);
}
