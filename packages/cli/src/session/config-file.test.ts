import assert from 'node:assert/strict';
import { configFile } from './config-file.ts';

describe('the file of settings', () => {
  it('is where the platform has those of a person, or where a variable says', () => {
    const HOME = '/people/ana';
    for (const [platform, env, path] of [
      ['linux', { HOME }, '/people/ana/.config/wts/config.json'],
      ['darwin', { HOME, XDG_CONFIG_HOME: '' }, '/people/ana/.config/wts/config.json'],
      ['linux', { HOME, XDG_CONFIG_HOME: '/xdg' }, '/xdg/wts/config.json'],
      ['win32', { HOME, AppData: '/ana/AppData' }, '/ana/AppData/wts/config.json'],
      ['win32', { HOME, WTS_CONFIG_DIR: '/given', AppData: '/ana/AppData' }, '/given/config.json'],
    ] as const)
      assert.equal(configFile({ platform, env }), path);
  });
});
