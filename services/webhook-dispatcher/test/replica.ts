import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { builtProgram } from '@wts/testkit';
import type { DispatchLimits } from '../src/limits.ts';
import { ATTEMPT_MS, FAST, KEY_TEXT } from './lane-system.ts';

const PROGRAM = join(import.meta.dirname, 'replica-main.ts');

export interface ReplicaOptions {
  readonly databaseUrl: string;
  readonly secretKey: string;
  readonly schedule: string;
  /** Of an attempt, which the limits do not know. */
  readonly deadlineMs: number;
  readonly limits: Partial<DispatchLimits>;
  /** How far its clock is from the right time. */
  readonly clockAheadMs?: number;
}

export interface Replica extends AsyncDisposable {
  readonly signal: (name: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM' | 'SIGKILL') => void;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
}

/** Starts `replica-main.ts`. */
export async function startReplica(
  options: Pick<ReplicaOptions, 'databaseUrl'> & Partial<ReplicaOptions>,
): Promise<Replica> {
  const hours = '1h,1h,1h,1h,1h,1h,1h';
  const all: ReplicaOptions = {
    secretKey: KEY_TEXT,
    schedule: hours,
    deadlineMs: ATTEMPT_MS,
    limits: FAST,
    ...options,
  };
  const child = fork(await builtProgram(PROGRAM), [JSON.stringify(all)], { execArgv: [] });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  await Promise.race([once(child, 'message'), ended.then((code) => Promise.reject(new Error(`ended with ${code}`)))]);
  return {
    signal: (name) => child.kill(name),
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
