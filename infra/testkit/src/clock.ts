/** A clock that a test moves by hand. */
export interface TestClock {
  /** Milliseconds since 1970, as `Date.now`. */
  readonly now: () => number;
  readonly nowSeconds: () => number;
  readonly advance: (ms: number) => void;
  readonly set: (time: string | number) => void;
}

export function testClock(start: string | number = '2026-11-21T09:00:00.000Z'): TestClock {
  let time = new Date(start).getTime();
  return {
    now: () => time,
    nowSeconds: () => Math.floor(time / 1000),
    advance: (ms) => {
      time += ms;
    },
    set: (to) => {
      time = new Date(to).getTime();
    },
  };
}

/** Stops `performance.now()` until it is disposed of, so that durations in a test do not depend on the load of the machine. */
export function stoppedClock(): Disposable & { readonly advance: (ms: number) => void } {
  let time = performance.now();
  performance.now = () => time;
  return {
    advance: (ms) => {
      time += ms;
    },
    [Symbol.dispose]: () => void Reflect.deleteProperty(performance, 'now'),
  };
}
