import { WordBatches } from './batches.ts';
import { KINDS, type Candidate, type Candidates, type Kind, type KindName, type RunGraphql } from './kinds.ts';
import { NAME_LIMITS } from './limits.ts';
import { NameError } from './name-error.ts';
import { fold, nearest } from './nearest.ts';
import { isUuid } from './uuid.ts';

export interface NamesOptions {
  readonly run: RunGraphql;
  /** The caller, whom the word `me` means. */
  readonly userId: string;
  /** For the texts of errors: what lists all records of a kind, as `list_projects`, and what finds tasks. */
  readonly listedBy: Readonly<Record<KindName | 'workspace' | 'task', string>>;
}

export interface WorkspaceRef {
  readonly id: string;
  readonly name: string;
  readonly urlKey: string;
  readonly role: string | null;
}

const WORKSPACES = 'query WorkspaceNames { myWorkspaces { id name urlKey role: viewerRole } }';

/**
 * Finds what the caller's words name: an id, a key or a name, in any capitals. Everything comes from lists that the caller may
 * read, so no answer shows a name of another workspace. Words of one moment are one request. One instance serves one command or call,
 * because it reads each list once.
 * Keeps agent.words.no-foreign-names.
 */
export class Names {
  readonly run: RunGraphql;
  readonly #userId: string;
  readonly listedBy: NamesOptions['listedBy'];
  #workspaces: Promise<readonly WorkspaceRef[]> | undefined;
  readonly #loaders = new Map<string, WordBatches<Candidates>>();
  readonly #all = new Map<string, Promise<Candidates>>();
  /** What this call has named. */
  readonly #named = new Set<string>();

  constructor({ run, userId, listedBy }: NamesOptions) {
    this.run = run;
    this.#userId = userId;
    this.listedBy = listedBy;
  }

  workspaces(): Promise<readonly WorkspaceRef[]> {
    this.#workspaces ??= this.run<{ myWorkspaces: readonly WorkspaceRef[] }>(WORKSPACES, {}).then(
      ({ myWorkspaces }) => myWorkspaces,
    );
    return this.#workspaces;
  }

  /** The workspace of a change: without a word, the only one. */
  async workspace(word: string | undefined): Promise<WorkspaceRef> {
    const workspace = await this.workspaceOrAll(word);
    if (workspace !== null) return workspace;
    const all = await this.workspaces();
    if (all.length === 0) throw new NameError('not_found', 'There is no workspace yet.');
    throw new NameError('bad_user_input', `Name the workspace. There are ${shown(all.map(workspaceCandidate))}.`);
  }

  /** The workspace of a list: without a word, null for all, or the only one. */
  async workspaceOrAll(word: string | undefined): Promise<WorkspaceRef | null> {
    const all = await this.workspaces();
    if (word === undefined) return all.length === 1 ? (all[0] as WorkspaceRef) : null;
    const exact = all.find(({ id, urlKey }) => [id, urlKey.toLowerCase()].includes(word.toLowerCase()));
    if (exact !== undefined) return exact;
    const found = all.filter((one) => matches(workspaceCandidate(one), word));
    if (found.length === 1) return found[0] as WorkspaceRef;
    const candidates = (found.length > 0 ? found : all).map(workspaceCandidate);
    throw mistake({
      noun: 'workspace',
      listedBy: this.listedBy.workspace,
      word,
      where: '',
      candidates,
      isAmbiguous: found.length > 0,
      isPart: false,
    });
  }

  /** The workspace of a key such as `ACME-12`: its key only, because a name may be the key of another one. */
  async workspaceOfKey(urlKey: string): Promise<WorkspaceRef> {
    const found = (await this.workspaces()).find((one) => one.urlKey.toLowerCase() === urlKey.toLowerCase());
    if (found !== undefined) return found;
    const message = `No workspace has the key ${JSON.stringify(urlKey)}. ${this.listedBy.workspace} shows their keys.`;
    throw new NameError('not_found', message);
  }

  project(word: string, workspace: WorkspaceRef | null): Promise<string> {
    return this.#idOf('project', word, workspace);
  }

  team(word: string, workspace: WorkspaceRef | null): Promise<string> {
    return this.#idOf('team', word, workspace);
  }

  label(word: string, workspace: WorkspaceRef | null): Promise<string> {
    return this.#idOf('label', word, workspace);
  }

  labels(words: readonly string[], workspace: WorkspaceRef | null): Promise<string[]> {
    return Promise.all(words.map((word) => this.label(word, workspace)));
  }

  /** Also `me`, a first name and an e-mail address. */
  async person(word: string, workspace: WorkspaceRef | null): Promise<string> {
    if (word.toLowerCase() === 'me') return this.#userId;
    return this.#idOf('person', word.replace(/^@/, ''), workspace);
  }

  async #idOf(kind: KindName, word: string, workspace: WorkspaceRef | null): Promise<string> {
    this.#count(kind, word, workspace);
    const exact = await this.#loader(kind, workspace).load(word);
    const found = exact.all.length > 0 ? exact : await this.#similar(kind, word, workspace);
    if (found.all.length === 1 && !found.isPart) return (found.all[0] as Candidate).id;
    const { noun } = KINDS[kind];
    const listedBy = this.listedBy[kind];
    const where = workspace === null ? ' in any workspace' : ` in the workspace ${JSON.stringify(workspace.name)}`;
    if (found.all.length > 0)
      throw mistake({ noun, listedBy, word, where, candidates: found.all, isAmbiguous: true, isPart: found.isPart });
    const { all, isPart } = await this.#allOf(kind, workspace);
    const candidates = nearest(word, unique(all), ({ names }) => names);
    throw mistake({ noun, listedBy, word, where, candidates, isAmbiguous: false, isPart });
  }

  #count(kind: KindName, word: string, workspace: WorkspaceRef | null): void {
    const name = JSON.stringify([kind, word, workspace?.id]);
    if (this.#named.has(name)) return;
    if (this.#named.size < NAME_LIMITS.foundMax) {
      this.#named.add(name);
      return;
    }
    const message = `One call may name at most ${NAME_LIMITS.foundMax} different projects, teams, people and labels. Put this into another call.`;
    throw new NameError('bad_user_input', message);
  }

  #loader(kind: KindName, workspace: WorkspaceRef | null): WordBatches<Candidates> {
    const key = `${kind} ${workspace?.id ?? ''}`;
    const made = this.#loaders.get(key) ?? this.#newLoader(kind, workspace);
    this.#loaders.set(key, made);
    return made;
  }

  #newLoader(kind: KindName, workspace: WorkspaceRef | null): WordBatches<Candidates> {
    return new WordBatches((words) => this.#exact(kind, words, workspace), NAME_LIMITS.ofRequestMax);
  }

  /** What each word names exactly, besides capitals. */
  async #exact(kind: KindName, words: readonly string[], workspace: WorkspaceRef | null): Promise<Candidates[]> {
    const ids = words.filter((word) => isUuid(word));
    const others = words.filter((word) => !isUuid(word));
    const { byIds, byName }: Kind = KINDS[kind];
    const named = [...(ids.length > 0 ? [byIds(ids)] : []), ...others.flatMap((word) => byName(word))];
    const { all, isPart } = await this.#read(kind, workspace, { or: named });
    if (isPart && words.length > 1) {
      // A word may be named only by records that were not read.
      const alone: Candidates[] = [];
      // One after the other, because otherwise each of the requests at once would become one for each of its words.
      for (const word of words) alone.push(...(await this.#exact(kind, [word], workspace)));
      return alone;
    }
    return words.map((word) => {
      const matching = unique(all).filter((one) => matches(one, word));
      // An id names one record, however often it is in the list.
      if (isPart && !isUuid(word)) return { all: matching, isPart };
      return { all: best(matching, word), isPart: false };
    });
  }

  /** Names that differ by accents, and people by one of their names; only where no further record could have it too. */
  async #similar(kind: KindName, word: string, workspace: WorkspaceRef | null): Promise<Candidates> {
    if (isUuid(word)) return NONE;
    const folded = fold(word);
    const read = await this.#allOf(kind, workspace);
    if (read.isPart) return NONE;
    const all = unique(read.all);
    const same = all.filter(({ names }) => names.some((name) => fold(name) === folded));
    if (same.length > 0 || kind !== 'person') return { all: same, isPart: false };
    const partly = all.filter(({ names }) => names.some((name) => fold(name).split(' ').includes(folded)));
    return { all: partly, isPart: false };
  }

  #allOf(kind: KindName, workspace: WorkspaceRef | null): Promise<Candidates> {
    const key = `${kind} ${workspace?.id ?? ''}`;
    const reading = this.#all.get(key) ?? this.#read(kind, workspace, {});
    this.#all.set(key, reading);
    return reading;
  }

  async #read(kind: KindName, workspace: WorkspaceRef | null, filter: object): Promise<Candidates> {
    const within = workspace === null ? {} : { workspaceId: { eq: workspace.id } };
    return KINDS[kind].find(this.run, { ...filter, ...within });
  }
}

const NONE: Candidates = { all: [], isPart: false };

function workspaceCandidate({ id, name, urlKey }: WorkspaceRef): Candidate {
  return { id, names: [name, urlKey], shown: `${JSON.stringify(name)} (${urlKey})` };
}

function matches({ id, names }: Candidate, word: string): boolean {
  return id === word.toLowerCase() || names.some((name) => name.toLowerCase() === word.toLowerCase());
}

/** A person who is in several workspaces is found in each of them. */
function unique(candidates: readonly Candidate[]): readonly Candidate[] {
  return [...new Map(candidates.map((one) => [one.id, one])).values()];
}

/** Of several that differ by capitals only, the one that is written exactly so. */
function best(candidates: readonly Candidate[], word: string): readonly Candidate[] {
  const exact = candidates.filter(({ names }) => names.includes(word));
  return exact.length === 1 ? exact : candidates;
}

interface Mistake {
  readonly noun: string;
  readonly listedBy: string;
  readonly word: string;
  readonly where: string;
  readonly candidates: readonly Candidate[];
  readonly isAmbiguous: boolean;
  /** True: not all records were compared. */
  readonly isPart: boolean;
}

function mistake({ noun, listedBy, word, where, candidates, isAmbiguous, isPart }: Mistake): NameError {
  const given = JSON.stringify(word);
  if (isAmbiguous) {
    const message = `${given} may be any of these${where}: ${shown(candidates, { withIds: true, isPart })}. Use the id.`;
    return new NameError('bad_user_input', message, candidates);
  }
  const near =
    candidates.length === 0
      ? 'There is none.'
      : isPart
        ? `Among so many only whole names are found; the nearest of the first ${NAME_LIMITS.readMax} are ${shown(candidates)}.`
        : `The nearest are ${shown(candidates)}.`;
  return new NameError(
    'bad_user_input',
    `No ${noun} is named ${given}${where}. ${near} ${listedBy} shows all of them.`,
  );
}

function shown(
  candidates: readonly Candidate[],
  { withIds = false, isPart = false }: { readonly withIds?: boolean; readonly isPart?: boolean } = {},
): string {
  const some = candidates.slice(0, NAME_LIMITS.shownMax);
  const texts = some.map(({ id, shown: text }) => (withIds ? `${text} with id ${id}` : text));
  const rest = candidates.length - some.length;
  const more = isPart ? ' and more than could be read' : rest > 0 ? ` and ${rest} more` : '';
  return `${texts.join(', ')}${more}`;
}
