#!/usr/bin/env node
/** The program `wts`. */
import * as module from 'node:module';
import process from 'node:process';

const OLDEST = [22, 12] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(`wts needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
// Before the rest is loaded, so that V8 keeps what it compiles of it.
module.enableCompileCache();
const { endProcess, processIo, run } = await import('./index.ts');
const io = processIo(process);
await endProcess(process, io, await run(process.argv.slice(2), io));
