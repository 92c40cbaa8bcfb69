/** All that was said, the newest at the bottom. */

import { Button } from "../../shared/components/button.js";
import { Icon } from "../../shared/components/icon.js";
import { html, signal, useEffect, useRef } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { active, connected, loadEarlier, thread, turns } from "../conversation/conversation.js";
import { stickToBottom } from "./stick.js";
import { TurnView } from "./turn.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/transcript.css")]);

const FIRST = 30;
const MORE = 50;
/** How many turns are drawn: the newest ones. */
const drawn = signal(FIRST);

/** The log of the conversation. What comes piece by piece is not read out; that it came is. */
export function Transcript() {
  const scroller = useRef(/** @type {HTMLElement | null} */ (null));
  const content = useRef(/** @type {HTMLElement | null} */ (null));
  const stick = useRef(/** @type {ReturnType<typeof stickToBottom> | null} */ (null));
  const away = useRef(signal(false));
  const id = thread.value?.thread_id;
  useEffect(() => {
    if (!scroller.current || !content.current) return undefined;
    stick.current = stickToBottom(scroller.current, content.current, (isAway) => (away.current.value = isAway));
    return () => stick.current?.end();
  }, []);
  useEffect(() => {
    drawn.value = FIRST;
    stick.current?.toBottom();
  }, [id]);
  const count = turns.value.length;
  const sending = turns.value.at(-1)?.status === "sending";
  // Who says something wants to see it.
  useEffect(() => stick.current?.toBottom(), [count, sending]);
  const from = Math.max(0, count - drawn.value);
  return html`<div class="chat-body" ref=${scroller} tabindex="-1">
      <div class="transcript" ref=${content} role="log" aria-live="off" aria-label=${text("chat.transcript")}>
        <${Earlier} hidden=${from} />
        ${turns.value
          .slice(from)
          .map(
            (turn, index) => html`<${TurnView} key=${turn.key} turn=${turn} isLast=${from + index === count - 1} />`,
          )}
        ${!connected.value && active.value && html`<p class="line warning" role="status"><${Icon} name="warning" />${text("chat.reconnecting")}</p>`}
      </div>
    </div>
    <${ToNewest} away=${away.current} onClick=${() => stick.current?.toBottom(true)} />`;
}

/** @param {{away: import("../../vendor/signals.js").Signal<boolean>, onClick: () => void}} properties */
function ToNewest({ away, onClick }) {
  if (!away.value) return null;
  return html`<div class="to-newest"><${Button} icon="down" onClick=${onClick}>${text("chat.to_newest")}<//></div>`;
}

/** @param {{hidden: number}} properties how many turns are here and not drawn */
function Earlier({ hidden }) {
  if (!hidden && !thread.value?.has_earlier) return null;
  const show = () => {
    drawn.value += MORE;
    if (!hidden) void loadEarlier();
  };
  return html`<div class="earlier"><${Button} icon="up" onClick=${show}>${text("chat.earlier")}<//></div>`;
}
