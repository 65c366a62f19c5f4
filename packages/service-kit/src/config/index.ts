export type { Build } from './build.ts';
export { refuseCaFile } from './ca-file.ts';
export { credentialSettings } from './credential-settings.ts';
export {
  databaseSettings,
  databaseUrlSetting,
  otherPasswordSetting,
  poolMaxSetting,
  replicaUrlSetting,
} from './database-settings.ts';
export { cellSetting, natsSettings, shardSetting } from './nats-settings.ts';
export {
  callerSettings,
  entryTraceSettings,
  parseReplaySecrets,
  replaySettings,
  serviceSettings,
} from './service-settings.ts';
export type { ServiceConfig } from './service-settings.ts';
export { SetupError } from './setup-error.ts';
export { defineSettings, parseSettings, refusalOf, setting } from './settings.ts';
export type { ConfigOf, Environment, Setting } from './settings.ts';
