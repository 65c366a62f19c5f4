/** The whole body. Rejects with a RangeError as soon as it has more than `bytesMax` bytes, and does not read the rest. */
export async function readBounded(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > bytesMax) throw new RangeError(`the body has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
