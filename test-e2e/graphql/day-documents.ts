/** The operations of a client for a day of work, from which its types are generated. */
export const DAY_DOCUMENTS = `
fragment TaskParts on Task {
  id
  number
  title
  start
  priority
  completedAt
  archivedAt
  labelIds
  sortOrder
  assignee { id name }
  project { id key }
}

query Morning {
  viewer { id name }
  myWorkspaces { id name urlKey viewerRole }
}

mutation MakeProject($input: ProjectCreateInput!) {
  projectCreate(input: $input) { success syncId error { code message } project { id key status } }
}

mutation MakeLabel($input: LabelCreateInput!) {
  labelCreate(input: $input) { success syncId error { code message } label { id name } }
}

mutation MakeTask($input: TaskCreateInput!, $clientTxId: String) {
  taskCreate(input: $input, clientTxId: $clientTxId) {
    success syncId lastSyncId error { code message } task { ...TaskParts }
  }
}

mutation ChangeTask($id: ID!, $input: TaskUpdateInput!) {
  taskUpdate(id: $id, input: $input) { success syncId error { code message } task { ...TaskParts } }
}

mutation FinishTask($id: ID!) {
  taskComplete(id: $id) { success syncId error { code message } task { ...TaskParts } }
}

mutation ReopenTask($id: ID!) {
  taskReopen(id: $id) { success syncId error { code message } task { ...TaskParts } }
}

mutation TrashTask($id: ID!) {
  taskArchive(id: $id) { success syncId error { code message } task { ...TaskParts } }
}

mutation Comment($input: CommentCreateInput!) {
  commentCreate(input: $input) {
    success syncId error { code message } comment { id body author { id } task { id comments(first: 10) { totalCount } } }
  }
}

mutation AddSteps($inputs: [TaskChecklistItemCreateInput!]!) {
  taskChecklistItemBatchCreate(inputs: $inputs) {
    success lastSyncId results { success syncId error { code message } taskChecklistItem { id title } }
  }
}

mutation PlaceStep($id: ID!, $place: PlaceInput!) {
  taskChecklistItemUpdate(id: $id, input: {place: $place}) { success syncId error { code message } taskChecklistItem { id } }
}

mutation Plan($inputs: [TaskCreateInput!]!) {
  taskBatchCreate(inputs: $inputs) { success lastSyncId tasks { id } results { success error { code } } }
}

mutation Prioritize($ids: [ID!]!, $priority: Int!) {
  taskBatchUpdate(ids: $ids, input: {priority: $priority}) {
    success lastSyncId tasks { id priority } results { success syncId error { code message } }
  }
}

mutation FinishAll($ids: [ID!]!) {
  taskBatchComplete(ids: $ids) { success lastSyncId results { success syncId error { code } } }
}

query Board($projectId: ID!, $after: String) {
  tasks(first: 3, after: $after, filter: {projectId: {eq: $projectId}, completedAt: {null: true}}, orderBy: [{number: ASC}]) {
    nodes { ...TaskParts labels(first: 5) { nodes { id name } } }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}

query OneTask($id: ID!) {
  task(id: $id) {
    ...TaskParts
    checklist(first: 20, orderBy: [{sortOrder: ASC}]) { nodes { id title } }
    comments(first: 5) { nodes { id body author { id } } }
  }
}

query Find($words: String!, $workspaceId: ID) {
  search(query: $words, workspaceId: $workspaceId, first: 10) { nodes { __typename id ... on Task { title } } }
}

query History($id: ID!) {
  history(modelId: $id, first: 20) { nodes { syncId action modelName actor { id } } }
}

query ByNumber($workspaceId: ID!, $number: Int!) {
  taskByNumber(workspaceId: $workspaceId, number: $number) { id title }
}
`;
