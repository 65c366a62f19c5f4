/**
 * The only script of these pages: a passkey needs one. It works on elements with `data-passkey`, each inside a form with the field
 * `data-field`, which takes the answer of the authenticator. They are hidden until the browser shows that it can do this.
 */
export const PASSKEY_SCRIPT = `'use strict';
(() => {
  if (!window.PublicKeyCredential || !PublicKeyCredential.parseRequestOptionsFromJSON) return;
  let waiting = null;

  const send = (form, answer, credential) => {
    answer.value = JSON.stringify(credential.toJSON());
    form.submit();
  };
  const ask = async (part, more) => {
    if (waiting) waiting.abort();
    waiting = new AbortController();
    const options = JSON.parse(part.dataset.options);
    const { signal } = waiting;
    return part.dataset.passkey === 'create'
      ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options), signal })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options), signal, ...more });
  };
  const explain = (part, error) => {
    const texts = {
      InvalidStateError: 'This device has a passkey for your account already.',
      SecurityError: 'Passkeys do not work at this address.',
    };
    const note = part.querySelector('[role=alert]');
    note.textContent = texts[error.name] || 'No passkey was used. Try again.';
    note.hidden = false;
  };

  for (const part of document.querySelectorAll('[data-passkey]')) {
    const form = part.closest('form');
    const answer = form.elements[part.dataset.field];
    part.hidden = false;
    form.addEventListener('submit', (event) => {
      if (event.submitter !== part.querySelector('button') || answer.value) return;
      event.preventDefault();
      ask(part).then((credential) => send(form, answer, credential), (error) => explain(part, error));
    });
    if (!('autofill' in part.dataset)) continue;
    PublicKeyCredential.isConditionalMediationAvailable().then((can) => {
      if (!can) return;
      // It ends when the person presses the button, or closes the list.
      ask(part, { mediation: 'conditional' }).then((credential) => send(form, answer, credential), () => {});
    });
  }
})();
`;
