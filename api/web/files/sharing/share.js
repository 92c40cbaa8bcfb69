/** Who has access to an item: people, groups and links, given, changed and taken back. */

import { get } from "../../shared/api/request.js";
import { Button } from "../../shared/components/button.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { notifyProblem } from "../../shared/components/notices.js";
import { Failure, Loading } from "../../shared/components/states.js";
import { html, useEffect, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { change } from "../actions/own_changes.js";
import { tellDone } from "../actions/reversal.js";
import { LinkForm } from "./link_form.js";
import { LinkRow } from "./link_row.js";
import { PersonForm } from "./person_form.js";
import { PersonRow } from "./person_row.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/sharing.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"ShareResult">} Share */
/** @typedef {{id: string, name: string, owner?: string}} Shared */

const MOST = 200;

/** Show who has access to an item. @param {Shared} item */
export async function openShare(item) {
  await showDialog((close) => html`<${Sharing} item=${item} onClose=${close} />`);
}

/** @param {{item: Shared, onClose: () => void}} properties */
function Sharing({ item, onClose }) {
  const { shares, owner, error, load } = useShares(item);
  const [made, setMade] = useState("");
  const [isLinkOpen, setLinkOpen] = useState(false);
  const path = `/api/drive/items/${encodeURIComponent(item.id)}/shares`;
  /** Take a share back, or give it other terms. @param {"PATCH" | "DELETE"} method @param {Share} share @param {object} [json] */
  const alter = async (method, share, json) => {
    const who = encodeURIComponent(share.kind === "link" ? share.id : (share.email ?? share.id));
    try {
      const { changeId } = await change(method, `${path}/${who}`, { json });
      tellDone(text(method === "PATCH" ? "sharing.changed" : "sharing.removed"), [changeId]);
    } catch (problem) {
      notifyProblem(problem);
    }
    load();
  };
  const add = async (/** @type {object} */ json) => {
    const { result, changeId } = await change("POST", path, { json });
    if (result.kind === "link") setMade(result.id);
    tellDone(text(result.kind === "link" ? "sharing.link_made" : "sharing.shared", { who: result.email ?? "" }), [
      changeId,
    ]);
    load();
  };
  const title = text("sharing.title", { name: item.name });
  return html`<${Dialog}
    title=${title}
    class="sharing"
    onClose=${onClose}
    footer=${html`<${Button} kind="main" onClick=${onClose}>${text("sharing.done")}<//>`}
  >
    <${PersonForm} onAdd=${add} onLink=${() => setLinkOpen(true)} />
    ${
      error
        ? html`<${Failure} error=${error} onRetry=${load} />`
        : shares
          ? html`<${Access} shares=${shares} owner=${owner} made=${made} alter=${alter} />`
          : html`<${Loading} />`
    }
    <${LinkForm} onAdd=${add} isOpen=${isLinkOpen} setOpen=${setLinkOpen} />
  <//>`;
}

/** @param {{shares: Share[], owner: string, made: string, alter: Function}} properties */
function Access({ shares, owner, made, alter }) {
  const people = shares.filter((share) => share.kind !== "link");
  const links = shares.filter((share) => share.kind === "link");
  return html`<section>
      <h3>${text("sharing.people")}</h3>
      <ul class="shares">
        <li class="share">
          <span class="share-who">${owner}</span><span class="quiet">${text("sharing.owner")}</span>
        </li>
        ${people.map((share) => html`<${PersonRow} key=${share.id} share=${share} alter=${alter} />`)}
      </ul>
      ${!people.length && html`<p class="quiet">${text("sharing.nobody")}</p>`}
    </section>
    <section>
      <h3>${text("sharing.links")}</h3>
      ${
        links.length
          ? html`<ul class="shares">
              ${links.map(
                (share) =>
                  html`<${LinkRow} key=${share.id} share=${share} isNew=${share.id === made} alter=${alter} />`,
              )}
            </ul>`
          : html`<p class="quiet">${text("sharing.no_links")}</p>`
      }
    </section>`;
}

/** @param {Shared} item */
function useShares(item) {
  const [shares, setShares] = useState(/** @type {Share[] | null} */ (null));
  const [owner, setOwner] = useState(item.owner ?? "");
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const path = `/api/drive/items/${encodeURIComponent(item.id)}`;
  const load = () => {
    setError(null);
    get(`${path}/shares`, { limit: MOST }).then((result) => setShares(result.items), setError);
    if (!owner) get(path).then((found) => setOwner(found.owner), setError);
  };
  useEffect(load, [item.id]);
  return { shares, owner, error, load };
}
