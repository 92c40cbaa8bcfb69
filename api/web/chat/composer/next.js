/** A message that waits for the end of the answer before it. */

import { Button } from "../../shared/components/button.js";
import { html, signal, useEffect, useRef } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { active, turns } from "../conversation/conversation.js";
import { focusComposer } from "./focus.js";

/** Whether what is written is sent once the answer that comes is finished. */
export const isNext = signal(false);

/** Says so, and lets the person keep it back. */
export function Next() {
  const keep = () => {
    isNext.value = false;
    focusComposer();
  };
  return html`<p class="composer-next quiet">
    ${text("chat.next")} <${Button} onClick=${keep}>${text("chat.next_not")}<//>
  </p>`;
}

/**
 * Send what waits at the end of an answer; after one that went wrong or asks something the person looks first.
 * @param {string | null} threadId
 * @param {() => Promise<void>} submit
 */
export function useNext(threadId, submit) {
  const last = turns.value.at(-1);
  const isRunning = active.value !== null;
  useEffect(() => {
    if (!isNext.peek() || isRunning) return;
    isNext.value = false;
    if (last?.status === "success") void submit();
  }, [isRunning, last?.status]);
  const before = useRef(threadId);
  useEffect(() => {
    // A conversation that has just begun is no other one.
    if (before.current !== null) isNext.value = false;
    before.current = threadId;
  }, [threadId]);
}
