import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY = 0x02014b50;
const DEFLATED = 8;

/** One file of a ZIP archive (APPNOTE 6.3, without ZIP64). */
export function entryOfZip(archive: Buffer, name: string): Buffer {
  let end = archive.length - END_BYTES;
  while (end > 0 && archive.readUInt32LE(end) !== END) end -= 1;
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === ENTRY) {
    const nameBytes = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) return contentOf(archive, at);
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${name}`);
}

function contentOf(archive: Buffer, at: number): Buffer {
  const local = archive.readUInt32LE(at + 42);
  const begin = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(begin, begin + archive.readUInt32LE(at + 20));
  return archive.readUInt16LE(at + 10) === DEFLATED ? inflateRawSync(content) : content;
}
