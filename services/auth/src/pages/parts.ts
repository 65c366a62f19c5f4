import { PASSWORD_BYTES } from '../domain/password-rules.ts';
import { shownName } from '../domain/shown-name.ts';
import { html, type Html } from './html.ts';

export type Fields = Readonly<Record<string, string | undefined>>;

/** A form that is sent by POST, with its token against forged requests. */
export function form(action: string, fields: Fields, content: Html): Html {
  const hidden = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
  );
  return html`<form method="post" action="${action}">${hidden}${content}</form>`;
}

/** A text that other people or programs chose, apart from the words around it, which it cannot hide or reorder. */
export function named(name: string): Html {
  return html`<bdi>${shownName(name)}</bdi>`;
}

export function signedInAs({ name, email }: { readonly name: string; readonly email: string | null }): Html {
  return html`<p class="quiet">
    You are signed in as <strong>${named(name)}</strong>${email === null ? null : html` (${named(email)})`}.
  </p>`;
}

/** What was wrong, or what was done, above a form. Screen readers read it first. */
export function note(kind: 'wrong' | 'careful' | 'done', text: string | null | undefined): Html | null {
  return text === null || text === undefined
    ? null
    : html`<p class="note ${kind}" role="${kind === 'wrong' ? 'alert' : 'status'}">${text}</p>`;
}

interface FieldOptions {
  readonly label: string;
  readonly name: string;
  readonly type?: 'email' | 'password' | 'text';
  /** https://html.spec.whatwg.org/#autofill: password managers know the field by it. */
  readonly autocomplete: string;
  /** Which keyboard a phone shows. */
  readonly inputMode?: 'numeric';
  readonly value?: string;
  readonly hint?: string;
  readonly isFirst?: boolean;
  readonly isFixed?: boolean;
  readonly lengthMin?: number;
  readonly lengthMax?: number;
}

interface ChoiceOptions {
  readonly label: string;
  readonly name: string;
  /** Values and their texts, the first of which is chosen. */
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function choice({ label, name, options }: ChoiceOptions): Html {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      ${options.map(([value, text]) => html`<option value="${value}">${text}</option>`)}
    </select>
  </div>`;
}

export function field(options: FieldOptions): Html {
  const { label, name, type = 'text', autocomplete, value = '', hint, lengthMin, lengthMax, inputMode } = options;
  const hintId = `${name}-hint`;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      value="${value}"
      required${
        hint === undefined ? null : html` aria-describedby="${hintId}"`
      }${inputMode === undefined ? null : html` inputmode="${inputMode}"`}${options.isFixed ? html` readonly` : null}${options.isFirst ? html` autofocus` : null}${
        lengthMin === undefined ? null : html` minlength="${lengthMin}"`
      }${lengthMax === undefined ? null : html` maxlength="${lengthMax}"`}${
        type === 'text' ? null : html` autocapitalize="none" spellcheck="false"`
      }
    />
    ${hint === undefined ? null : html`<p class="hint" id="${hintId}">${hint}</p>`}
  </div>`;
}

export function newPasswordField(options: Pick<FieldOptions, 'label' | 'isFirst'>): Html {
  return field({
    ...options,
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    lengthMin: PASSWORD_BYTES.min,
    hint: `At least ${PASSWORD_BYTES.min} characters. A few words are easy to remember.`,
  });
}

/** By which a password manager knows whose password a form asks for. */
export function hiddenEmail(name: string, email: string): Html {
  return html`<input
    type="email"
    name="${name}"
    value="${email}"
    autocomplete="username"
    aria-label="Email"
    readonly
    hidden
  />`;
}

/** The way to another account, after which the person goes on with what the fields say. */
export function otherAccount(action: string, fields: Fields): Html {
  const button = html`<button type="submit" class="link">Use another account</button>`;
  return form(action, fields, html`<p class="foot">Not you? ${button}</p>`);
}
