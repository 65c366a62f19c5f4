import { html, type Html } from './html.ts';

interface PasskeyPart {
  /** What the script passes to the browser. */
  readonly options: object;
  readonly kind: 'create' | 'get';
  readonly label: string;
  readonly isPlain?: boolean;
  /** The browser also offers passkeys in the field for the email. */
  readonly hasAutofill?: boolean;
  /** The field of the answer. */
  readonly field?: string;
  /** Fields above the button. */
  readonly content?: Html | null;
}

/** A button for a form, which the script shows where the browser knows passkeys. The answer of the authenticator becomes a field of the form. */
export function passkeyPart({
  options,
  kind,
  label,
  isPlain = false,
  hasAutofill = false,
  content = null,
  field = 'passkey',
}: PasskeyPart): Html {
  return html`<input type="hidden" name="${field}" value="" />
    <div
      class="passkey"
      data-passkey="${kind}"
      data-field="${field}"
      data-options="${JSON.stringify(options)}"
      ${hasAutofill ? html` data-autofill` : null}
      hidden
    >
      ${content}<button type="submit" ${isPlain ? html` class="plain"` : null}>${label}</button>
      <p class="note wrong" role="alert" hidden></p>
    </div>`;
}
