import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip } from '@wts/service-kit/http';
import { startAnswer } from './edge/answer.ts';
import type { OwnAnswer } from './edge/edge.ts';

/** A file that does not change while the process runs. */
export interface StaticFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Further headers: name, value, name, value. */
  readonly lines?: readonly string[];
}

/** A smaller file fits into one packet without compression. */
const COMPRESS_BYTES_MIN = 1400;

/**
 * Answers with the file, or with 304 when the client has it. Clients may keep the file for ever when its address has `version`, the
 * hash of its content. At every other address they must revalidate it, because the next release has the same path, and because a
 * replica of another release answers with its own file during a rollout. The file is compressed once, at the first request. Keeps
 * meta.docs.revalidated.
 */
export function staticAnswer({ type, bytes, lines = [] }: StaticFile, version?: string): OwnAnswer {
  const hash = createHash('sha256').update(bytes).digest('base64url');
  const isCompressible = bytes.length >= COMPRESS_BYTES_MIN;
  let compressed: Promise<Buffer> | null = null;
  return async (context, res) => {
    const { 'accept-encoding': encodings, 'if-none-match': known = '' } = context.req.headers;
    const isCompressed = isCompressible && acceptsGzip(encodings);
    const tag = isCompressed ? `"${hash}.gzip"` : `"${hash}"`;
    const isOfVersion = version !== undefined && context.path.includes(`/${version}/`);
    const kept = isOfVersion ? 'public, max-age=31536000, immutable' : 'no-cache';
    const common = ['ETag', tag, 'Cache-Control', kept, ...(isCompressible ? ['Vary', 'Accept-Encoding'] : [])];
    if (isKnown(known, tag)) {
      startAnswer(context, res, 304, [...common, ...lines]);
      res.end();
      return;
    }
    const body = isCompressed ? await (compressed ??= promisify(gzip)(bytes, { level: 9 })) : bytes;
    const encoding = isCompressed ? ['Content-Encoding', 'gzip'] : [];
    const length = ['Content-Length', String(body.length)];
    startAnswer(context, res, 200, ['Content-Type', type, ...length, ...encoding, ...common, ...lines]);
    res.end(body);
  };
}

/** RFC 9110 section 13.1.2: If-None-Match compares weak and strong tags as equal. */
function isKnown(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.split(',').some((known) => ['*', tag, `W/${tag}`].includes(known.trim()));
}
