export { refuseCaFile } from './ca-file.ts';
export { credentialSettings } from './credential-settings.ts';
export { databaseSettings, databaseUrlSetting, poolMaxSetting, replicaUrlSetting } from './database-settings.ts';
export { natsSetting } from './nats-setting.ts';
export { callerSettings, parseReplaySecrets, replaySettings, serviceSettings } from './service-settings.ts';
export type { ServiceConfig } from './service-settings.ts';
export { defineSettings, parseSettings, refusalOf, setting } from './settings.ts';
export type { ConfigOf, Setting } from './settings.ts';
