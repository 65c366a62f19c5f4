import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** What is wrong with a PEM file of certificate authorities, as the end of the sentence "VARIABLE ..."; null for none. For `refuse`. */
export function refuseCaFile(path: string): string | null {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    return `names ${path}, which ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}`;
  }
  try {
    new X509Certificate(pem).toString();
    return null;
  } catch {
    return `names ${path}, which has no certificate in PEM`;
  }
}
