/** A question of one of the person's own servers, in the middle of a call: a form, or an address to visit. */

import { Problem } from "../../shared/api/problem.js";
import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { html } from "../../shared/preact.js";
import { language } from "../../shared/texts/language.js";
import { text } from "../../shared/texts/texts.js";
import { SchemaForm } from "./forms/edit_form.js";

/** @typedef {import("../../shared/api/types.js").Schema<"QuestionView">} QuestionView */

/** @param {{action: import("./card.js").Action, question: QuestionView, deciding: ReturnType<typeof import("./deciding.js").useDecisions>, isLate: boolean}} properties */
export function Question({ action, question, deciding, isLate }) {
  const { tool_call_id: call } = action;
  const decline = html`<${Button} icon="close" onClick=${() => deciding.decide(call, { type: "reject" })}
    >${text("approval.decline")}<//
  >`;
  return html`<article class="approval-action" aria-label=${text("approval.asks", { server: question.server_name })}>
    <div class="approval-body">
      <p class="approval-sentence">${text("approval.asks", { server: question.server_name })}</p>
      <blockquote dir="auto">${question.message}</blockquote>
      ${[question.warning, question.problem].filter(Boolean).map((words) => html`<p class="line warning" key=${words}><${Icon} name="warning" />${words}</p>`)}
      ${
        isLate
          ? null
          : question.mode === "url"
            ? html`<${Address} question=${question}>
                <${Button} kind="main" onClick=${() => deciding.decide(call, { type: "approve" })}
                  >${text("approval.visited")}<//
                >
                ${decline}
              <//>`
            : html`<p class="quiet">${text("approval.only_server", { server: question.server_name })}</p>
                <${SchemaForm}
                  schema=${question.schema}
                  values=${action.args}
                  action=${text("approval.answer_send")}
                  complaints=${complaintsOf(deciding.problem)}
                  onSend=${(/** @type {Record<string, any>} */ args) => deciding.decide(call, { type: "edit", args })}
                  more=${decline}
                />`
      }
    </div>
  </article>`;
}

/** @param {{question: QuestionView, children?: any}} properties */
function Address({ question: { url, host }, children }) {
  return html`<p>${text("approval.visit", { host })}</p>
    <p>
      <a href=${safe(url)} target="_blank" rel="noopener noreferrer"><bdi>${url}</bdi></a>
    </p>
    <div class="row">${children}</div>`;
}

/** Only addresses of the web can be opened. @param {string} url */
const safe = (url) => (/^https?:\/\//i.test(url) ? url : undefined);

/** What the service says of each field, in the language of the page. @param {unknown} problem @returns {Record<string, string>} */
function complaintsOf(problem) {
  const fields = problem instanceof Problem ? (problem.details.fields ?? {}) : {};
  return Object.fromEntries(Object.entries(fields).map(([name, said]) => [name, said[language.value]]));
}
