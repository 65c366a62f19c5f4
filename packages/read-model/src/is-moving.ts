/**
 * SQL, as `workspaceId` is: whether a workspace moves to another cell, arrives from one, or is a copy that is kept here. In the statement of a
 * change, because a move may have begun since the request was checked, and what is written after it took its things would stay behind. Keeps
 * cells.move.one-writer.
 */
export function isMoving(workspaceId: string): string {
  return `exists (select from sync.workspace_moves m where m.workspace_id = ${workspaceId})`;
}
