/** Sharing with a person or a group. */

import { get } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { describe } from "../../shared/components/problems.js";
import { html, useEffect, useId, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { RoleChoice } from "./role_choice.js";

/** @typedef {import("../../shared/api/types.js").Schema<"ContactResult">} Contact */

const PAUSE = 150;
const MOST = 8;

/** @param {{onAdd: (share: object) => Promise<void>, onLink: () => void}} properties */
export function PersonForm({ onAdd, onLink }) {
  const id = useId();
  const [who, setWho] = useState("");
  const [role, setRole] = useState("viewer");
  const [problem, setProblem] = useState("");
  const [unknown, setUnknown] = useState("");
  const contacts = useContacts(who);
  const typed = useRef("");
  typed.current = who.trim();
  const isUnderWay = useRef(false);
  const give = async (/** @type {string} */ address) => {
    if (unknown !== address && (await isUnknown(address))) {
      // Another address may stand there by now.
      setUnknown(typed.current === address ? address : "");
      return;
    }
    await onAdd({ email: address, role });
    if (typed.current !== address) return;
    setWho("");
    setUnknown("");
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!typed.current) return setProblem(text("shared.required"));
    if (isUnderWay.current) return undefined;
    isUnderWay.current = true;
    setProblem("");
    try {
      await give(typed.current);
    } catch (error) {
      const { title, hint } = describe(error);
      setProblem([title, hint].filter(Boolean).join(" "));
    } finally {
      isUnderWay.current = false;
    }
    return undefined;
  };
  return html`<form class="share-form" onSubmit=${submit}>
    <label class="field share-address">
      <span>${text("sharing.who")}</span>
      <input
        autofocus
        value=${who}
        list=${`contacts${id}`}
        autocomplete="off"
        aria-invalid=${problem ? "true" : undefined}
        aria-describedby=${`problem${id}`}
        onInput=${(/** @type {any} */ event) => {
          setWho(event.currentTarget.value);
          setUnknown("");
        }}
      />
    </label>
    <datalist id=${`contacts${id}`}>
      ${contacts.map((contact) => html`<option value=${contact.address} key=${contact.address}>${contact.name}</option>`)}
    </datalist>
    <${RoleChoice} label=${text("sharing.role")} value=${role} onChange=${setRole} />
    <${Button} kind=${unknown ? undefined : "main"} type="submit"
      >${text(unknown ? "sharing.share_anyway" : "sharing.share")}<//
    >
    <div class="no-account" role="status">
      ${
        unknown &&
        html`<p>${text("sharing.no_account", { who: unknown })}</p>
          <${Button} kind="main" icon="link" onClick=${onLink}>${text("sharing.link_instead")}<//>`
      }
    </div>
    <p class="field-problem" id=${`problem${id}`} role="alert">${problem}</p>
  </form>`;
}

/** Whether nobody has an account with the address: they would not hear of it. @param {string} address @returns {Promise<boolean>} */
async function isUnknown(address) {
  const found = await get("/api/drive/contacts/account", { address });
  return found.has_account === false;
}

/** Who could be meant by what is typed; without an answer one still types the whole address. @param {string} typed */
function useContacts(typed) {
  const [contacts, setContacts] = useState(/** @type {Contact[]} */ ([]));
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      get("/api/drive/contacts", { q: typed.trim(), limit: MOST }, { signal: abort.signal }).then(
        (result) => setContacts(result.items),
        () => setContacts([]),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [typed]);
  return contacts;
}
