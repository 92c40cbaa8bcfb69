/** A turn: what the person said, and what came of it. */

import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { Failure } from "../../shared/components/states.js";
import { Component, html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { sendAgain } from "../conversation/conversation.js";
import { isActive } from "../conversation/turn.js";
import { TurnEnd } from "../runs/end.js";
import { PartView } from "../runs/part.js";
import { RouteLine } from "../runs/route.js";
import { AnswerActions } from "./answer_actions.js";
import { PersonMessage } from "./person_message.js";

/** @typedef {import("../conversation/turn.js").Turn} Turn */
/** @typedef {import("../conversation/turn.js").Part} Part */

/** One turn; it is drawn anew only if something in it is another. @extends {Component<any, any>} */
export class TurnView extends Component {
  /** @override @param {any} next */
  shouldComponentUpdate(next) {
    const now = /** @type {any} */ (this.props);
    return next.turn !== now.turn || next.isLast !== now.isLast;
  }

  /** @override */
  render() {
    const { turn, isLast } = /** @type {any} */ (this.props);
    return html`<article class=${isLast ? "turn last" : "turn"}>
      <${PersonMessage} turn=${turn} isLast=${isLast} />
      <${Answer} turn=${turn} isLast=${isLast} />
    </article>`;
  }
}

/** @param {{turn: Turn, isLast: boolean}} properties */
function Answer({ turn, isLast }) {
  if (turn.status === "unsent") return html`<${Unsent} turn=${turn} />`;
  const working = isActive(turn);
  const last = turn.parts.at(-1);
  return html`<section class="answer" aria-label=${text("chat.answer")} aria-busy=${working}>
    <${RouteLine} route=${turn.route} />
    ${grouped(turn.parts).map((part) => html`<${PartView} key=${part.key} part=${part} turn=${turn} streaming=${working && part === last} />`)}
    ${working && turn.status !== "waiting" && html`<${Working} turn=${turn} />`}
    <${TurnEnd} turn=${turn} isLast=${isLast} />
    ${!working && html`<${AnswerActions} turn=${turn} isLast=${isLast} />`}
  </section>`;
}

/** Calls that follow one another stand together. @param {Part[]} parts @returns {Array<Part | {kind: "calls", key: string, calls: Part[]}>} */
function grouped(parts) {
  /** @type {any[]} */
  const groups = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.kind !== "call") groups.push(part);
    else if (last?.kind === "calls") last.calls.push(part);
    else groups.push({ kind: "calls", key: `calls-${part.key}`, calls: [part] });
  }
  return groups;
}

/** A sign of life until there is something to read. @param {{turn: Turn}} properties */
function Working({ turn }) {
  const last = turn.parts.at(-1);
  if (last?.kind === "text" && !turn.reading) return null;
  return html`<p class="line working">
    <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${workingWords(turn)}
  </p>`;
}

/** How far the request is read, if the model's server tells it. @param {Turn} turn */
function workingWords({ reading }) {
  if (!reading || reading.read >= reading.total) return text("chat.working");
  return text("chat.reading", { percent: Math.floor((100 * reading.read) / reading.total) });
}

/** @param {{turn: Turn}} properties */
function Unsent({ turn }) {
  return html`<div class="answer unsent">
    <p class="line warning"><${Icon} name="warning" />${text("chat.unsent")}</p>
    <${Failure} error=${turn.problem} />
    <${Button} icon="send" onClick=${() => sendAgain(turn)}>${text("chat.send_again")}<//>
  </div>`;
}
