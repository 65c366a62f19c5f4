interface Waiting<Found> {
  readonly word: string;
  readonly resolve: (found: Found) => void;
  readonly reject: (reason: unknown) => void;
}

/** Loads each word once; the words of one moment in one request, or in several of bounded size. */
export class WordBatches<Found> {
  readonly #load: (words: readonly string[]) => Promise<readonly Found[]>;
  readonly #wordsMax: number;
  readonly #loading = new Map<string, Promise<Found>>();
  #waiting: Waiting<Found>[] = [];

  constructor(load: (words: readonly string[]) => Promise<readonly Found[]>, wordsMax: number) {
    this.#load = load;
    this.#wordsMax = wordsMax;
  }

  load(word: string): Promise<Found> {
    const known = this.#loading.get(word);
    if (known !== undefined) return known;
    const loading = new Promise<Found>((resolve, reject) => {
      // A timer runs after all promises that are settled now, whose words belong to the same moment.
      if (this.#waiting.length === 0) setTimeout(() => this.#send(), 0);
      this.#waiting.push({ word, resolve, reject });
    });
    this.#loading.set(word, loading);
    return loading;
  }

  #send(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < all.length; from += this.#wordsMax) {
      const some = all.slice(from, from + this.#wordsMax);
      this.#load(some.map(({ word }) => word)).then(
        (found) => some.forEach(({ resolve }, at) => resolve(found[at] as Found)),
        (error: unknown) => some.forEach(({ reject }) => reject(error)),
      );
    }
  }
}
