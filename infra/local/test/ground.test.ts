import { deepEqual } from 'node:assert/strict';
import { withoutEmptyFolders } from '../bootstrap/ground.mjs';

describe('the surroundings of an install', () => {
  it('have no XDG folder that is set but empty, which pnpm would take for the checkout', () => {
    const kept = { XDG_DATA_HOME: '/data', XDG_SESSION_TYPE: '', EMPTY: '' };
    deepEqual(withoutEmptyFolders({ XDG_CACHE_HOME: '', XDG_STATE_HOME: '', ...kept }), kept);
  });
});
