import assert from 'node:assert/strict';
import type { ErrorCode } from '@wts/contracts';
import { faultOfSqlState, isRetryableSqlState } from './sqlstate.ts';

const database = (code: string): Error =>
  Object.assign(new Error('an error of PostgreSQL'), { code, severity: 'ERROR' });
const system = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'connect' });

describe('an error of the database', () => {
  const meanings: Readonly<Record<string, ErrorCode | undefined>> = {
    '22001': 'validation_failed',
    '22003': 'validation_failed',
    '22008': 'validation_failed',
    '22021': 'validation_failed',
    '22P02': 'validation_failed',
    '22P05': 'validation_failed',
    '23502': 'validation_failed',
    '23505': 'conflict',
    '23P01': 'conflict',
    '23503': 'conflict',
    '40001': 'unavailable',
    '40P01': 'unavailable',
    '55P03': 'unavailable',
    '57014': 'unavailable',
    '57P01': 'unavailable',
    '57P03': 'unavailable',
    '53300': 'unavailable',
    '53100': 'unavailable',
    '08006': 'unavailable',
    '25006': 'unavailable',
    '28P01': 'unavailable',
    '3D000': 'unavailable',
    '42P01': undefined,
    '42501': undefined,
    '0A000': undefined,
    XX000: undefined,
  };
  for (const [code, meaning] of Object.entries(meanings))
    it(`${code} means ${meaning ?? 'a bug'}`, () => assert.equal(faultOfSqlState(database(code))?.code, meaning));

  it('means a violated check only where it names one; otherwise a partition is missing, which maintenance makes', () => {
    const violated = Object.assign(database('23514'), { constraint: 'log_state_gap_max_check' });
    assert.equal(faultOfSqlState(violated)?.code, 'validation_failed');
    assert.equal(faultOfSqlState(database('23514'))?.code, 'unavailable');
  });

  it('may be retried immediately only after a conflict with another transaction', () => {
    for (const code of ['40001', '40P01', '55P03']) assert.ok(isRetryableSqlState(database(code)), code);
    for (const code of ['23505', '57014', '08006', '22P02']) assert.ok(!isRetryableSqlState(database(code)), code);
    assert.ok(!isRetryableSqlState(null));
  });
});

describe('an error of the connection to the database', () => {
  it('means unavailable', () => {
    for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND', 'EPIPE', 'ENOENT'])
      assert.equal(faultOfSqlState(system(code))?.code, 'unavailable', code);
    for (const text of [
      'Connection terminated unexpectedly',
      'timeout exceeded when trying to connect',
      'Query read timeout',
    ]) {
      assert.equal(faultOfSqlState(new Error(text))?.code, 'unavailable', text);
      const ofKnex = new Error(`select a - b from c where d = $1 - ${text}`);
      assert.equal(faultOfSqlState(ofKnex)?.code, 'unavailable', `${text}, after the statement`);
    }
    const both = new AggregateError([system('ECONNREFUSED'), system('ECONNREFUSED')]);
    assert.equal(faultOfSqlState(both)?.code, 'unavailable');
  });

  it('is not recognized in other errors', () => {
    const others = [new Error('x'), new TypeError('Connection'), 'ECONNREFUSED', null, undefined, 7, { code: '23505' }];
    others.push(Object.assign(new Error('a code that only looks alike'), { code: '23505' }));
    others.push(Object.assign(new Error('a file'), { code: 'ENOENT', syscall: 'open' }));
    for (const [at, error] of others.entries()) assert.equal(faultOfSqlState(error), undefined, `number ${at}`);
  });
});
