import { httpUrl, text } from '../field.ts';
import { model } from '../model.ts';

export const User = model({
  name: 'User',
  table: 'users',
  doc: 'A person. Seen by everyone who shares a workspace with them; by others who shared one, as they were when they left, without their address.',
  audience: { kind: 'person' },
  permissions: { insert: 'service', update: 'self', delete: 'service' },
  fields: {
    name: text({ min: 1, max: 200 }, { doc: 'Full name.' }),
    email: text({ max: 320 }, { doc: 'Address, as the identity provider gave it.', nullable: true, immutable: true }),
    avatarUrl: httpUrl({ doc: 'Picture, absolute URL.', nullable: true }),
    username: text(
      { min: 1, max: 64, pattern: /^[A-Za-z0-9._-]+$/ },
      { doc: 'Short name for mentions.', nullable: true },
    ),
  },
});
