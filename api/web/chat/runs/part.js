/** A part of an answer: words, thoughts, calls, files that are read, a plan, an approval. */

import { Icon } from "../../shared/components/icon.js";
import { Lazy } from "../../shared/components/lazy.js";
import { goToFile } from "../../shared/location.js";
import { Markdown } from "../../shared/markdown/markdown.js";
import { Component, html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { thread } from "../conversation/conversation.js";
import { isActive } from "../conversation/turn.js";
import { passageOf } from "./passage.js";
import { agentWords } from "./route.js";
import { Calls } from "./calls.js";
import { FilesProgress } from "./files_progress.js";
import { Reasoning } from "./reasoning.js";

/** @typedef {import("../conversation/turn.js").Turn} Turn */
/** @typedef {import("../conversation/turn.js").Part} Part */
/** @typedef {{kind: "calls", key: string, calls: import("../conversation/turn.js").CallPart[]}} CallGroup */

/** Draws a part anew only if it is another. @extends {Component<any, any>} */
export class PartView extends Component {
  /** @override @param {any} next */
  shouldComponentUpdate(next) {
    const now = /** @type {any} */ (this.props);
    if (next.streaming !== now.streaming) return true;
    if (next.part.kind === "plan")
      return next.turn.plan !== now.turn.plan || isActive(next.turn) !== isActive(now.turn);
    if (next.part.kind === "calls")
      return next.part.calls.some((/** @type {any} */ call, /** @type {number} */ at) => call !== now.part.calls[at]);
    return next.part !== now.part;
  }

  /** @override */
  render() {
    const { part, turn, streaming } = /** @type {any} */ (this.props);
    return draw(part, turn, streaming);
  }
}

const loadPlan = () => import("../../plan/plan.js").then((module) => module.PlanView);
const loadApprovalCard = () => import("../../approvals/card/card.js").then((module) => module.ApprovalCard);

/** @param {import("../../shared/api/types.js").Schema<"CitationView">} citation */
const openCitation = (citation) => citation.file_id && goToFile(citation.file_id, passageOf(citation));

/** @param {Part | CallGroup} part @param {Turn} turn @param {boolean} streaming */
function draw(part, turn, streaming) {
  switch (part.kind) {
    case "text":
      return html`<${Markdown}
        source=${part.text}
        streaming=${streaming}
        citations=${part.citations}
        onCitation=${openCitation}
      />`;
    case "reasoning":
      return html`<${Reasoning} words=${part.text} streaming=${streaming} />`;
    case "calls":
      return html`<${Calls} calls=${part.calls} turn=${turn} />`;
    case "approval":
      return html`<${Lazy} load=${loadApprovalCard} approval=${part.approval} />`;
    case "plan":
      return html`<${Lazy}
        load=${loadPlan}
        plan=${turn.plan}
        threadId=${thread.peek()?.thread_id}
        isActive=${isActive(turn)}
      />`;
    case "files":
      return html`<${FilesProgress} files=${part.files} total=${part.total} />`;
    case "handover":
      return html`<p class="line" title=${part.reason}>
        <${Icon} name="right" />${text("chat.handover", { agent: agentWords(part.agent) })}
      </p>`;
    default:
      return null;
  }
}
