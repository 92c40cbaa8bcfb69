/** The card of an approval: all calls of a turn that wait for the person, each shown as what it will do. */

import { Icon } from "../../shared/components/icon.js";
import { describe } from "../../shared/components/problems.js";
import { html, useEffect, useId, useRef, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { look, wanted } from "../waiting_list.js";
import { ActionView } from "./action.js";
import { Closed } from "./closed.js";
import { Countdown } from "./countdown.js";
import { useDecisions } from "./deciding.js";
import { partsOf } from "./preview_parts.js";
import { Question } from "./question.js";
import { ActionList, ForAll, Pager } from "./several.js";
import { useSteady } from "./steady.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/card.css")]);

/** @typedef {import("../../shared/api/types.js").Schema<"ApprovalAction">} Action */
/** @typedef {{approval_id: string, expires_at: string, actions: Action[], status: string, decisions?: any[]}} Shown as the events of the run tell it */

/** @param {{approval: Shown}} properties */
export function ApprovalCard({ approval }) {
  // The list in the header counts what is asked, and no more what is decided, without waiting for its turn.
  useEffect(() => void look(), [approval.status]);
  const waited = useRef(false);
  if (approval.status === "waiting") waited.current = true;
  return approval.status === "waiting"
    ? html`<${Waiting} approval=${approval} />`
    : html`<${Closed} approval=${approval} waited=${waited.current} />`;
}

/** @param {{approval: Shown}} properties */
function Waiting({ approval }) {
  const { approval_id: id, actions, expires_at: until } = approval;
  const deciding = useDecisions(
    id,
    actions.map((action) => action.tool_call_id),
  );
  const [over, setOver] = useState(/** @type {{status: string, decisions?: any[]} | null} */ (null));
  const closed = deciding.closed ?? over;
  if (closed) return html`<${Closed} approval=${{ ...approval, ...closed }} waited />`;
  return html`<${Asking} id=${id} actions=${actions} until=${until} deciding=${deciding} onOver=${setOver} />`;
}

/** @param {{id: string, actions: Action[], until: string, deciding: ReturnType<typeof useDecisions>, onOver: (closed: {status: string}) => void}} properties */
function Asking({ id, actions, until, deciding, onOver }) {
  const name = `approval${useId()}`;
  const card = useRef(/** @type {HTMLElement | null} */ (null));
  const [isLate, setLate] = useState(false);
  const { at, isList, go, toggleList } = useShown(actions, deciding.made, card);
  const isSteady = useSteady(card, at);
  useEffect(() => takeFocus(card.current), []);
  const isWanted = wanted.value === id;
  useEffect(() => {
    if (!isWanted) return;
    wanted.value = "";
    card.current?.scrollIntoView({ block: "end" });
    focusQuestion(card.current);
  }, [isWanted]);
  const action = actions[at];
  const title = text(action.question ? "approval.question" : "approval.title", { count: actions.length });
  const isMany = actions.length > 1;
  return html`<section class=${isMany ? "approval many" : "approval"} aria-labelledby=${name} ref=${card}>
    <p class="hidden" role="alert">${title}: ${partsOf(action.preview).sentence}</p>
    <header class="row">
      <h3 id=${name} tabindex="-1"><${Icon} name="lock" />${title}</h3>
      <${Countdown} until=${until} approvalId=${id} onLate=${setLate} onOver=${onOver} />
    </header>
    ${isMany && html`<${Pager} count=${actions.length} at=${at} isList=${isList} onGo=${go} onList=${toggleList} />`}
    ${
      isList
        ? html`<${ActionList} actions=${actions} at=${at} deciding=${deciding} onGo=${go} />`
        : action.question
          ? html`<${Question}
              key=${action.tool_call_id}
              action=${action}
              question=${action.question}
              deciding=${deciding}
              isLate=${isLate}
            />`
          : html`<${ActionView}
              key=${action.tool_call_id}
              action=${action}
              approvalId=${id}
              deciding=${deciding}
              isOnly=${!isMany}
              isSteady=${isSteady}
              isLate=${isLate}
            />`
    }
    <${Wrong} problem=${deciding.problem} />
    ${isMany && !isLate && html`<${ForAll} count=${actions.length} deciding=${deciding} isSteady=${isSteady} />`}
  </section>`;
}

/**
 * Which of the calls is in view: the next one after a decision, the list once all are decided.
 * @param {Action[]} actions
 * @param {Record<string, any>} made
 * @param {{current: HTMLElement | null}} card
 */
function useShown(actions, made, card) {
  const [shown, setShown] = useState({ at: 0, isList: false });
  const decided = Object.keys(made).length;
  const before = useRef(decided);
  useEffect(() => {
    const isMore = decided > before.current;
    before.current = decided;
    if (!isMore || actions.length === 1) return;
    const left = actions.map((_, index) => index).filter((index) => !made[actions[index].tool_call_id]);
    const next = left.find((index) => index > shown.at) ?? left[0];
    setShown(next === undefined ? { ...shown, isList: true } : { at: next, isList: false });
    focusQuestion(card.current);
  }, [decided]);
  const go = (/** @type {number} */ at) => {
    setShown({ at, isList: false });
    focusQuestion(card.current);
  };
  return { ...shown, go, toggleList: () => setShown({ ...shown, isList: !shown.isList }) };
}

/** Bring the question to who reads with a screen reader or keys. @param {HTMLElement | null} card */
const focusQuestion = (card) => /** @type {HTMLElement | null | undefined} */ (card?.querySelector("h3"))?.focus();

/** The question takes the focus where nobody has it: who writes a message goes on writing. @param {HTMLElement | null} card */
function takeFocus(card) {
  const { activeElement: active } = document;
  if (!active || active === document.body) focusQuestion(card);
}

/** @param {{problem: unknown}} properties */
function Wrong({ problem }) {
  if (!problem) return null;
  const { title, hint, requestId } = describe(problem);
  const id = requestId && text("shared.request_id", { id: requestId });
  return html`<p class="field-problem" role="alert">${[title, hint, id].filter(Boolean).join(" ")}</p>`;
}
