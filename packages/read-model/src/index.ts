export { GroupCache, GroupReader, personGroupsOf, personGroupsSql, readerKey, type PersonGroupsRow } from './groups.ts';
export { isMoving } from './is-moving.ts';
export {
  hasRoleSql,
  membershipsSql,
  ownGroupsSql,
  ownProjectsSql,
  projectMembersSql,
  seenOrManagedSql,
  seesGroup,
} from './memberships.ts';
export { pageReader, type FirstPage, type ReadPage } from './page-reader.ts';
export { poll } from './poll.ts';
export { isForWorkspace, RoleRules, Roles } from './roles.ts';
export { shardCheck } from './shard.ts';
export { STANDBY_TIMEOUT_MS, Standby } from './standby.ts';
export { SYNC_SCHEMA } from './sync-schema.ts';
export { Visibility, type GroupSource, type GroupsWithGains, type PersonGroups, type Reader } from './visibility.ts';
export { uuidList, visibleSelections, visibleSql, visibleToGroupSql } from './visible-sql.ts';
export type { Selection, Viewer, ViewerSql } from './visible-sql.ts';
