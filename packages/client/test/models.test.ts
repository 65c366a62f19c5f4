import type * as contracts from '@wts/contracts';
import { LIMITS } from '@wts/contracts';
import { MODEL_NAMES } from '@wts/models';
import type * as models from '@wts/models';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AcceptedChange, ErrorCode, ModelName, RecordOf, SyncAction, WebhookEvent } from '../src/index.ts';
import { NAME_LIMITS } from '../src/names/limits.ts';
import type * as wire from '../src/wire.ts';
import { generatedFiles } from '../write-models.ts';

type Same<A, B> = [A, B] extends [B, A] ? true : false;
type Plain<T> = { [Field in keyof T]: T[Field] };
type Fields<T> = keyof T;
type IsPart<Part, Whole> = Part extends Whole ? true : false;
type DeclaredRecord<Name extends ModelName> = models.RecordOf<(typeof models)[Name]>;

/** Compiles only while each row is `true`. */
const SAME_AS_SERVER: {
  readonly records: { [Name in ModelName]: Same<Plain<RecordOf<Name>>, Plain<DeclaredRecord<Name>>> };
  readonly entry: Same<Fields<SyncAction>, Fields<contracts.SyncAction>>;
  readonly accepted: Same<Fields<AcceptedChange>, Fields<contracts.AcceptedMutation>>;
  readonly event: Same<Fields<WebhookEvent>, Fields<contracts.WebhookEvent>>;
  readonly error: Same<Plain<wire.ErrorBody>, Plain<contracts.ErrorBody>>;
  readonly code: Same<ErrorCode, contracts.ErrorCode>;
  readonly transaction: Same<wire.SyncTransaction, contracts.SyncTransaction>;
  readonly result: Same<wire.MutateReply['results'], contracts.MutateReply['results']>;
  readonly reply: Same<Fields<wire.MutateReply>, Fields<contracts.MutateReply>>;
  readonly page: Same<Fields<wire.DeltasReply>, Fields<contracts.DeltasReply>>;
  readonly frame: Same<wire.ServerFrame['type'], contracts.ServerFrame['type']>;
  /** Narrower than in the contracts, which do not know the models. */
  readonly entryIsPart: IsPart<SyncAction, contracts.SyncAction>;
  readonly acceptedIsPart: IsPart<AcceptedChange, contracts.AcceptedMutation>;
  readonly eventIsPart: IsPart<WebhookEvent, contracts.WebhookEvent>;
  readonly subscribeIsPart: IsPart<wire.SubscribeFrame, contracts.SubscribeFrame>;
} = {
  records: {
    Workspace: true,
    User: true,
    WorkspaceMember: true,
    Team: true,
    TeamMember: true,
    Project: true,
    ProjectMember: true,
    Label: true,
    Task: true,
    TaskChecklistItem: true,
    Comment: true,
  },
  entry: true,
  accepted: true,
  event: true,
  error: true,
  code: true,
  transaction: true,
  result: true,
  reply: true,
  page: true,
  frame: true,
  entryIsPart: true,
  acceptedIsPart: true,
  eventIsPart: true,
  subscribeIsPart: true,
};

describe('the types and limits of the client', () => {
  for (const [name, text] of Object.entries(generatedFiles())) {
    it(`follow the models and contracts of the server in ${name}`, () => {
      const kept = readFileSync(join(import.meta.dirname, '..', 'src', name), 'utf8');
      assert.equal(kept, text, 'to update it: npm run models, in packages/client');
    });
  }

  it('have a record for every model, with the fields and types of the server', () =>
    assert.deepEqual(Object.keys(SAME_AS_SERVER.records).toSorted(), MODEL_NAMES.toSorted()));

  it('read as many names as a page of the server has', () => assert.equal(NAME_LIMITS.readMax, LIMITS.graphPageMax));
});
