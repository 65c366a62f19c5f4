import type { Action } from '../call.ts';
import { CliFault, EXITS, type Exit } from '../fault.ts';
import type { Io } from '../io.ts';
import { Output } from '../output/output.ts';
import { ReaderGone } from '../output/writer.ts';
import { helpText } from './help.ts';
import { route } from './route.ts';
import type { CommandSpec } from './spec.ts';
import { ROOT } from './tree/index.ts';
import { VERSION } from '../version.ts';

/** Runs one command, and resolves to its exit code when everything is written. Never throws. Keeps cli.exit.ends. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const output = new Output(argv, io);
  const running = runCommand(argv, io, output);
  try {
    await Promise.race([running.then(() => output.written()), interruption(io.interrupted)]);
    return EXITS.ok[0];
  } catch (error) {
    const reason: unknown = output.gone.aborted ? output.gone.reason : error;
    // The reader of the output has what it needs, as `head`.
    if (reason instanceof ReaderGone) return EXITS.ok[0];
    const exit = await report(reason, io, output);
    // An interrupted command undoes what it began, as to revoke a key that it could not store. The process has a limit for that.
    await running.catch(() => undefined);
    return EXITS[exit][0];
  } finally {
    output.close();
  }
}

async function runCommand(argv: readonly string[], io: Io, output: Output): Promise<void> {
  const { path, rest, asks } = route(argv, ROOT);
  const spec = path.at(-1) as CommandSpec;
  if (asks === 'version') return output.text(`wts ${VERSION}\n`);
  if (asks === 'help' || (spec.load === undefined && rest.length === 0))
    return output.pages(helpText(path, output.look));
  const { parse } = await import('./parse.ts');
  const { words, options } = parse(path, rest);
  if (spec.load === undefined) return output.pages(helpText(path, output.look));
  output.choose(options.text('json'), spec.fields ?? []);
  const action: Action = await spec.load();
  let opening: ReturnType<typeof openSession> | undefined;
  const openSession = async () => (await import('../session/session.ts')).openSession({ io, options, output });
  const signal = AbortSignal.any([io.interrupted, output.gone]);
  await action({ words, options, io, output, signal, session: () => (opening ??= openSession()) });
  if (opening === undefined) return;
  const { noteVersion } = await import('../session/version-note.ts');
  await noteVersion(io, output, await opening);
}

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new CliFault('interrupted', 'Interrupted.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

async function report(error: unknown, io: Io, output: Output): Promise<Exit> {
  const { faultOf } = await import('../session/fault-of.ts');
  const fault = io.interrupted.aborted ? new CliFault('interrupted', 'Interrupted.') : faultOf(error);
  await output.fault(fault);
  if (io.env['WTS_DEBUG'] === '1' && error instanceof Error) await output.note(error.stack ?? String(error));
  return fault.exit;
}
