/** Ids of the examples in the description: the same thing has the same id in all of them. */
export const EXAMPLE_IDS = {
  person: '018f2a3b-7d2e-7f11-8b11-4a6c9f8e3d21',
  workspace: '018f2a3b-6c1d-7e00-9a00-3f5b8e7d2c10',
  apiKey: '018f2a3b-8e3f-7b22-8c22-5b7daf9f4e32',
  invitation: '018f2a3b-9f4a-7c33-9d33-6c8ebf0a5f43',
  task: '018f2a3b-a05b-7d44-8e44-7d9fc01b6054',
  comment: '018f2a3b-e49f-7188-8c88-b1d3045fa498',
  member: '018f2a3b-f5a0-7299-9d99-c2e4156ab5a9',
  project: '018f2a3b-d38e-7077-8b77-a0c2f34e9387',
  clientTx: '018f2a3b-b16c-7e55-9f55-8ea0d12c7165',
  otherTx: '018f2a3b-06b1-73aa-8eaa-d3f5267bc6ba',
  epoch: '018f2a3b-c27d-7f66-8a66-9fb1e23d8276',
  endpoint: '018f2a3b-17c2-74bb-8fbb-e4063678dbcb',
  delivery: '018f2a3b-28d3-75cc-80cc-f5174789ecdc',
  event: '018f2a3b-39e4-76dd-81dd-06285890fded',
} as const;
