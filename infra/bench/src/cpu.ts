import { readFileSync, readdirSync } from 'node:fs';

/** Processor time since the machine started. */
export interface MachineTime {
  readonly busyMs: number;
  readonly allMs: number;
}

/** One process; `cpuMs` includes its children that have exited. */
export interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
  readonly ownMs: number;
}

/** USER_HZ, which is 100 on every Linux. */
const TICK_MS = 10;

/** Parses `/proc/stat` (proc(5)). User time includes guests; time that a hypervisor gave to other machines counts as busy. */
function parseMachine(text: string): MachineTime {
  const ticks = (text.split('\n', 1)[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = ticks;
  const busy = user + nice + system + irq + softIrq + steal;
  return { busyMs: busy * TICK_MS, allMs: (busy + idle + ioWait) * TICK_MS };
}

/** Parses `/proc/<pid>/stat`. The process name in it may contain blanks and brackets. */
function parseProcess(text: string): ProcessTime {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (at: number): number => Number(fields[at] ?? 0);
  const own = ticks(11) + ticks(12);
  return {
    pid: Number.parseInt(text, 10),
    parent: ticks(1),
    cpuMs: (own + ticks(13) + ticks(14)) * TICK_MS,
    ownMs: own * TICK_MS,
  };
}

/** The CPU time of a process and all its descendants. */
function sumOfTree(processes: readonly ProcessTime[], root: number): number {
  const cpuMs = new Map(processes.map((one) => [one.pid, one.cpuMs]));
  return treeIn(processes, root).reduce((sum, pid) => sum + (cpuMs.get(pid) ?? 0), 0);
}

/** The CPU time of these processes without their children; null without `/proc`. */
export function cpuMsOf(pids: readonly number[]): number | null {
  const times = pids.map((pid) => readProcess(pid)?.ownMs);
  return times.every((time) => time !== undefined) ? times.reduce((sum, time) => sum + time, 0) : null;
}

/** The CPU time of these processes and all their descendants; NaN without `/proc`. */
export function cpuMsOfTrees(roots: readonly number[]): number {
  const processes = readProcesses();
  return processes === null ? Number.NaN : roots.reduce((sum, root) => sum + sumOfTree(processes, root), 0);
}

/** A process and all its descendants; only itself without `/proc`. */
export function treeOf(root: number): readonly number[] {
  return treeIn(readProcesses() ?? [], root);
}

function treeIn(processes: readonly ProcessTime[], root: number): readonly number[] {
  const byParent = Map.groupBy(processes, ({ parent }) => parent);
  const tree = [root];
  for (const one of tree) tree.push(...(byParent.get(one) ?? []).map(({ pid }) => pid));
  return tree;
}

/** The share of the machine that other programs used: all busy time minus that of this process and its descendants. */
export class OtherProcesses {
  #from: { readonly machine: MachineTime; readonly oursMs: number } | null = readTimes();

  /** The share since the constructor or the last call; null without `/proc`. */
  share(): number | null {
    const [from, to] = [this.#from, readTimes()];
    this.#from = to;
    if (from === null || to === null) return null;
    const allMs = to.machine.allMs - from.machine.allMs;
    const othersMs = to.machine.busyMs - from.machine.busyMs - (to.oursMs - from.oursMs);
    // Ticks are coarse, so over a short time the difference may be negative.
    return allMs <= 0 ? null : Math.min(1, Math.max(0, othersMs / allMs));
  }
}

function readTimes(): { machine: MachineTime; oursMs: number } | null {
  try {
    const machine = parseMachine(readFileSync('/proc/stat', 'utf8'));
    return { machine, oursMs: sumOfTree(readProcesses() ?? [], process.pid) };
  } catch {
    return null;
  }
}

function readProcesses(): readonly ProcessTime[] | null {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.flatMap((pid) => readProcess(Number(pid)) ?? []);
  } catch {
    return null;
  }
}

function readProcess(pid: number): ProcessTime | undefined {
  try {
    return parseProcess(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // The process has exited, or the system has no /proc.
    return undefined;
  }
}
