/**
 * Lets a bounded number of tasks run at once; the others wait in order. Thousands of clients that come back in the same
 * second must not take everything from those who only want to go on.
 */
export class Gate {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await task();
    } finally {
      // The place is handed on, so nobody who comes now overtakes those who wait.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** A gate for each sender: who asks for much waits for themselves. Senders without a task take no memory. */
export class SenderGates {
  readonly #atOnce: number;
  readonly #gates = new Map<string, { readonly gate: Gate; tasks: number }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  async run<T>(sender: string, task: () => Promise<T>): Promise<T> {
    const own = this.#gates.get(sender) ?? { gate: new Gate(this.#atOnce), tasks: 0 };
    this.#gates.set(sender, own);
    own.tasks += 1;
    try {
      return await own.gate.run(task);
    } finally {
      own.tasks -= 1;
      if (own.tasks === 0) this.#gates.delete(sender);
    }
  }
}
