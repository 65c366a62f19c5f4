// Written by `npm run models` in packages/client. Do not edit.

/** The space of one organization. Every other record belongs to one. */
export type Workspace = {
  /** Unique identifier. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Unique short name for URLs. Set on creation; cannot be changed. */
  readonly urlKey: string;
  /** Absolute URL of a picture. */
  readonly logoUrl: string | null;
  /** The time zone in which its days begin, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Days that tasks stay in the Trash before they are deleted for good; null for those of the installation. Owners can change this, and only to keep tasks longer. */
  readonly trashRetentionDays: number | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

/** A person. Everyone who shares a workspace with them can see them. Those who shared one in the past see them as they were then, without the e-mail address. */
export type User = {
  /** Unique identifier. */
  readonly id: string;
  /** Full name. */
  readonly name: string;
  /** E-mail address from the identity provider. Set on creation; cannot be changed. */
  readonly email: string | null;
  /** Absolute URL of a picture. */
  readonly avatarUrl: string | null;
  /** Short name for mentions. */
  readonly username: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** A member of a workspace, with a role. Created by creating or joining a workspace, not by `INSERT`. */
export type WorkspaceMember = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** The person. Set on creation; cannot be changed. */
  readonly userId: string;
  /** Role; decides what the person may do in the workspace. */
  readonly role: 'owner' | 'admin' | 'member' | 'guest';
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** A group of people inside a workspace that owns projects and tasks. */
export type Team = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace it belongs to. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** Short code, unique in the workspace. */
  readonly key: string;
  /** Display name. */
  readonly name: string;
  /** Markdown. */
  readonly description: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

/** A member of a team. */
export type TeamMember = {
  /** Unique identifier. */
  readonly id: string;
  /** The team. Set on creation; cannot be changed. */
  readonly teamId: string;
  /** The person, who must be a member of the workspace. Set on creation; cannot be changed. */
  readonly userId: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** A set of tasks with a goal. Only its members can see a private project. */
export type Project = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace it belongs to. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** The team that owns it. */
  readonly teamId: string | null;
  /** Short code, unique among the projects of the workspace that are not private. */
  readonly key: string;
  /** Display name. */
  readonly name: string;
  /** Markdown. */
  readonly description: string | null;
  /** Status. `done` sets `completedAt`, any other value clears it. When a change gives both and they contradict, `status` wins. */
  readonly status: 'active' | 'on_hold' | 'done' | 'dropped';
  /** True when only its members can see it; its creator and lead are members. Owners, admins, the creator and the lead can change this, with the scope `admin`. */
  readonly isPrivate: boolean;
  /** The lead, who is a member of a private project. Owners, admins, the creator and the lead can change this; of a private project with the scope `admin`. */
  readonly leadId: string | null;
  /** The person who created it. */
  readonly creatorId: string;
  /** Planned start. */
  readonly startDate: string | null;
  /** Planned end. */
  readonly targetDate: string | null;
  /** When it was completed, at most one day in the future. Setting it alone makes `status` `done`; setting it to null makes a `done` project `active`. */
  readonly completedAt: string | null;
  /** Sort position in lists. */
  readonly sortOrder: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

/** A member of a private project. */
export type ProjectMember = {
  /** Unique identifier. */
  readonly id: string;
  /** The project. Set on creation; cannot be changed. */
  readonly projectId: string;
  /** The person, who must be a member of the workspace. Set on creation; cannot be changed. */
  readonly userId: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** A label for tasks, of the whole workspace or of one team. */
export type Label = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace it belongs to. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** The team whose label it is; null for the whole workspace. */
  readonly teamId: string | null;
  /** Name, shown on tasks. */
  readonly name: string;
  /** Color as `#rgb` or `#rrggbb`. */
  readonly color: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

/** A task. */
export type Task = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace it belongs to. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** Number of the task in its workspace, counted up by the server. */
  readonly number: number;
  /** Title. */
  readonly title: string;
  /** Markdown. */
  readonly description: string | null;
  /** The project it belongs to. Into a private project only its creator, the creator and the lead of its project, and owners and admins move it. */
  readonly projectId: string | null;
  /** The team it belongs to. */
  readonly teamId: string | null;
  /** The person who does it, who must be a member of the workspace. */
  readonly assigneeId: string | null;
  /** The person who created it. */
  readonly creatorId: string;
  /** Whether work is planned. */
  readonly start: 'not_started' | 'started' | 'someday';
  /** Part of the day, or later. */
  readonly startBucket: 'today' | 'evening' | 'upcoming';
  /** Planned start day. */
  readonly startDate: string | null;
  /** Day for which its position in Today was set. */
  readonly todayIndexReferenceDate: string | null;
  /** Due day. */
  readonly deadlineAt: string | null;
  /** 0 none, 1 urgent, 2 high, 3 medium, 4 low. */
  readonly priority: number;
  /** Ids of its labels. */
  readonly labelIds: readonly string[];
  /** Sort position in lists. */
  readonly sortOrder: string;
  /** How it repeats: an RFC 5545 RRULE such as `FREQ=WEEKLY;BYDAY=MO,TH`, daily or slower, in capitals. Only the newest task of a series has it: completing that one, or its next day, creates the next task and moves the rule there. Null ends the series. A rule by months without a day of the month takes that of `repeatAnchor`, clamped to the last day of a shorter month. */
  readonly repeatRule: string | null;
  /** What the next task counts from: `date`, the days of the rule, also while this task is open; `completion`, the day on which this one is completed. */
  readonly repeatFrom: 'date' | 'completion';
  /** The first day of the rule, from which its intervals count. */
  readonly repeatAnchor: string | null;
  /** Its number in the series, with the days that passed; COUNT ends at it. */
  readonly repeatIndex: number | null;
  /** The id of its series, which all its tasks have, also after it ended. */
  readonly repeatTemplateId: string | null;
  /** The day on which the next task is created although this one is open, in the time zone of the workspace; null where completing this one creates it, and at the end of the series. */
  readonly repeatNextDate: string | null;
  /** Too many tasks of its series are open, so the series goes on when some are completed. */
  readonly repeatWaiting: boolean;
  /** Why the next task could not be created. Any change of this one tries again. */
  readonly repeatError: string | null;
  /** When it was completed, at most one day in the future; null while it is open. Set it to complete the task. */
  readonly completedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /** When it was archived; null while it is not. */
  readonly archivedAt: string | null;
};

/** An item of the checklist of a task. */
export type TaskChecklistItem = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace of its task. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** The task it belongs to. Set on creation; cannot be changed. */
  readonly taskId: string;
  /** Title. */
  readonly title: string;
  /** When it was checked off, at most one day in the future; null while it is open. */
  readonly completedAt: string | null;
  /** Sort position in the list. */
  readonly sortOrder: string;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** A comment on a task. */
export type Comment = {
  /** Unique identifier. */
  readonly id: string;
  /** The workspace of its task. Set on creation; cannot be changed. */
  readonly workspaceId: string;
  /** The task it belongs to. Set on creation; cannot be changed. */
  readonly taskId: string;
  /** Who wrote it. */
  readonly authorId: string;
  /** The comment it replies to. Set on creation; cannot be changed. */
  readonly parentId: string | null;
  /** Markdown. */
  readonly body: string;
  /** When the body last changed. */
  readonly editedAt: string | null;
  /** When it was created. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
};

/** What a client may send of each model: `needed` has no default, `assigned` is set by the server, `fixed` only on creation, `commands` are `true` or a day. */
export interface Models {
  readonly Workspace: {
    readonly record: Workspace;
    readonly actions: 'UPDATE' | 'ARCHIVE' | 'UNARCHIVE';
    readonly needed: never;
    readonly assigned: never;
    readonly fixed: 'urlKey';
    readonly sets: never;
    readonly commands: never;
  };
  readonly User: {
    readonly record: User;
    readonly actions: 'UPDATE';
    readonly needed: never;
    readonly assigned: never;
    readonly fixed: 'email';
    readonly sets: never;
    readonly commands: never;
  };
  readonly WorkspaceMember: {
    readonly record: WorkspaceMember;
    readonly actions: 'UPDATE' | 'DELETE';
    readonly needed: never;
    readonly assigned: never;
    readonly fixed: 'workspaceId' | 'userId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly Team: {
    readonly record: Team;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';
    readonly needed: 'workspaceId' | 'key' | 'name';
    readonly assigned: never;
    readonly fixed: 'workspaceId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly TeamMember: {
    readonly record: TeamMember;
    readonly actions: 'INSERT' | 'DELETE';
    readonly needed: 'teamId' | 'userId';
    readonly assigned: never;
    readonly fixed: 'teamId' | 'userId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly Project: {
    readonly record: Project;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';
    readonly needed: 'workspaceId' | 'key' | 'name';
    readonly assigned: 'creatorId';
    readonly fixed: 'workspaceId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly ProjectMember: {
    readonly record: ProjectMember;
    readonly actions: 'INSERT' | 'DELETE';
    readonly needed: 'projectId' | 'userId';
    readonly assigned: never;
    readonly fixed: 'projectId' | 'userId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly Label: {
    readonly record: Label;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';
    readonly needed: 'workspaceId' | 'name';
    readonly assigned: never;
    readonly fixed: 'workspaceId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly Task: {
    readonly record: Task;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE' | 'ARCHIVE' | 'UNARCHIVE';
    readonly needed: 'workspaceId' | 'title';
    readonly assigned:
      | 'number'
      | 'creatorId'
      | 'repeatAnchor'
      | 'repeatIndex'
      | 'repeatTemplateId'
      | 'repeatNextDate'
      | 'repeatWaiting'
      | 'repeatError';
    readonly fixed: 'workspaceId';
    readonly sets: 'addedLabelIds' | 'removedLabelIds';
    readonly commands: 'repeatSkip';
  };
  readonly TaskChecklistItem: {
    readonly record: TaskChecklistItem;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE';
    readonly needed: 'workspaceId' | 'taskId' | 'title';
    readonly assigned: never;
    readonly fixed: 'workspaceId' | 'taskId';
    readonly sets: never;
    readonly commands: never;
  };
  readonly Comment: {
    readonly record: Comment;
    readonly actions: 'INSERT' | 'UPDATE' | 'DELETE';
    readonly needed: 'workspaceId' | 'taskId' | 'body';
    readonly assigned: 'authorId' | 'editedAt';
    readonly fixed: 'workspaceId' | 'taskId' | 'parentId';
    readonly sets: never;
    readonly commands: never;
  };
}
