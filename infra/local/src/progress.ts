/** The output while things start: on a terminal the current step shows its seconds, otherwise each step is one line. */
export interface Progress {
  readonly step: <T>(title: string, work: (note: (text: string) => void) => Promise<T>) => Promise<T>;
  readonly print: (text: string) => void;
}

const WIDTH = 22;
const TICK_MS = 100;

export function createProgress(out: NodeJS.WriteStream): Progress {
  const live = out.isTTY && process.env['TERM'] !== 'dumb';
  const mark = (sign: string, color: number) => (live ? `\x1b[${color}m${sign}\x1b[0m` : sign);
  const line = (sign: string, title: string, sinceMs: number, note: string) =>
    `  ${sign} ${title.padEnd(WIDTH)} ${((Date.now() - sinceMs) / 1000).toFixed(1).padStart(5)} s${note === '' ? '' : `   ${note}`}`;
  return {
    print: (text) => void out.write(`${text}\n`),
    step: async (title, work) => {
      const since = Date.now();
      let note = '';
      const draw = () => void out.write(`\r\x1b[2K${line(mark('…', 33), title, since, note)}`);
      const timer = live ? setInterval(draw, TICK_MS) : null;
      const end = (sign: string) => {
        if (timer !== null) clearInterval(timer);
        out.write(`${live ? '\r\x1b[2K' : ''}${line(sign, title, since, note)}\n`);
      };
      try {
        const result = await work((text) => {
          note = text;
        });
        end(mark('✓', 32));
        return result;
      } catch (error) {
        end(mark('✗', 31));
        throw error;
      }
    },
  };
}

/** Prints a line behind the minutes and seconds since this process started. */
export function printWithClock(line: string): void {
  const seconds = Math.floor(performance.now() / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60].map((part) => String(part).padStart(2, '0'));
  process.stdout.write(`${minutes}:${rest}  ${line}\n`);
}
