import { deepEqual } from 'node:assert/strict';
import { withoutEmptyFolders } from '../bootstrap/platform.mjs';

describe('the environment of an install', () => {
  it('has no empty XDG folder, for which pnpm would use the checkout', () => {
    const kept = { XDG_DATA_HOME: '/data', XDG_SESSION_TYPE: '', EMPTY: '' };
    deepEqual(withoutEmptyFolders({ XDG_CACHE_HOME: '', XDG_STATE_HOME: '', ...kept }), kept);
  });
});
