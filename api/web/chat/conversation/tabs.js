/** What happens in a conversation is told to the other tabs of this browser. */

/** @typedef {{threadId: string, runId: string}} News */

const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("conversations");

/** @param {News} news */
export function tellOtherTabs(news) {
  channel?.postMessage(news);
}

/** @param {(news: News) => void} listener */
export function whenOtherTabsTell(listener) {
  channel?.addEventListener("message", (event) => listener(event.data));
}
