import { comparableAddress } from '@wts/access';

export const PASSWORD_BYTES = { min: 10, max: 1024 } as const;

/** The commonest of at least ten characters in published leaks. Length alone keeps most of the others out. */
const COMMONEST: ReadonlySet<string> = new Set(
  `0123456789 1234567890 12345678910 123456789a 1234567891 1111111111 0000000000 987654321a 9876543210 1122334455 1q2w3e4r5t
  1qaz2wsx3edc 1q2w3e4r5t6y 123qweasdzxc q1w2e3r4t5 qwertyuiop qwerty1234 qwerty12345 qwerty123456 asdfghjkl1 asdfghjkl; zxcvbnm123
  password10 password11 password12 password123 password1234 password12345 passwordpassword passw0rd123 p@ssw0rd123 password1! password123!
  iloveyou12 iloveyou123 iloveyouforever letmein123 welcome123 welcome1234 administrator admin12345 administrator1 changeme123
  changeme1234 football123 basketball baseball123 sunshine123 princess123 superman123 starwars123 liverpool1 manchester jordan23jordan
  michelle123 charlie123 computer123 internet123 trustno1trustno1 abcdefghij abcdefghijk abc1234567 abcd123456 a123456789 a1b2c3d4e5
  aaaaaaaaaa 5555555555 7777777777 1029384756 147258369a 741852963a 0987654321 1234512345 123123123123 q1w2e3r4t5y6 zaq12wsxcde3
  mypassword mypassword1 secret1234 samsung123 google1234 facebook123 whatever123 dragon1234 monkey1234 master1234 shadow1234`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** Fewer are a pattern such as ten blanks. */
const DIFFERENT_MIN = 4;

/** Passwords are compared in one form, because keyboards write some letters in two ways. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** What is wrong with a new password, as a sentence; null for nothing. There is no rule about kinds of characters. */
export function faultOfPassword(password: string, email: string): string | null {
  const bytes = Buffer.byteLength(normalizePassword(password));
  if (bytes < PASSWORD_BYTES.min) return `Choose a password of at least ${PASSWORD_BYTES.min} characters.`;
  if (bytes > PASSWORD_BYTES.max) return `Choose a password of at most ${PASSWORD_BYTES.max} bytes.`;
  if (comparableAddress(password) === comparableAddress(email)) return 'Choose a password that is not your email.';
  if (new Set(password).size < DIFFERENT_MIN) return 'Choose a password with more different characters.';
  if (COMMONEST.has(password.toLowerCase())) return 'This password is one of the commonest. Choose another one.';
  return null;
}
