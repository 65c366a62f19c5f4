import { httpUrl, text } from '../field.ts';
import { model } from '../model.ts';

export const User = model({
  name: 'User',
  table: 'users',
  doc: 'A person. Everyone who shares a workspace with them can see them. Those who shared one in the past see them as they were then, without the e-mail address.',
  audience: { kind: 'person' },
  permissions: { insert: 'service', update: 'self', delete: 'service' },
  instead: {
    insert: 'A User is created when the person signs in for the first time, not by INSERT',
    delete: 'A User is erased by the operator of this service, not by DELETE',
  },
  search: ['name', 'username'],
  fields: {
    name: text({ min: 1, max: 200 }, { doc: 'Full name.' }),
    email: text({ max: 320 }, { doc: 'E-mail address from the identity provider.', nullable: true, immutable: true }),
    avatarUrl: httpUrl({ doc: 'Absolute URL of a picture.', nullable: true }),
    username: text(
      {
        min: 1,
        max: 64,
        pattern: /^[A-Za-z0-9._-]+$/,
        words: 'must be 1 to 64 characters A-Z, a-z, 0-9, ., _ and -',
      },
      { doc: 'Short name for mentions.', nullable: true },
    ),
  },
});

/** The profile of a person who was erased. A service that gives a person this profile erases them everywhere they are seen. */
export const ERASED_PERSON = { name: 'Deleted person', email: null, avatarUrl: null, username: null } as const;
