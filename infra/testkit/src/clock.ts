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
