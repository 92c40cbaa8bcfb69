/** What can be done with a thread. */

import { get, patch, remove, send } from "../../shared/api/request.js";
import { ask, confirm } from "../../shared/components/dialogs.js";
import { notify, notifyProblem } from "../../shared/components/notices.js";
import { goToThread } from "../../shared/location.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { shownVersion, thread, threadsChanged } from "../conversation/conversation.js";

await loadTexts(import.meta.url);

/** @typedef {{thread_id: string, title: string}} ThreadName */

const LONGEST = 80;

/** Give a thread another title. @param {ThreadName} of */
export async function rename({ thread_id, title }) {
  const check = (/** @type {string} */ value) =>
    value.length > LONGEST ? text("threads.too_long", { count: LONGEST }) : "";
  const words = await ask({
    title: text("threads.rename"),
    label: text("threads.title"),
    value: title,
    action: text("threads.rename"),
    check,
  });
  if (!words || words === title) return;
  try {
    const renamed = await patch(`/api/threads/${thread_id}`, { title: words });
    if (thread.peek()?.thread_id === thread_id)
      thread.value = { .../** @type {any} */ (thread.peek()), title: renamed.title };
    threadsChanged.value += 1;
  } catch (problem) {
    notifyProblem(problem);
  }
}

/** Delete a thread, after a question. @param {ThreadName} of @returns {Promise<boolean>} whether it is gone */
export async function removeThread({ thread_id, title }) {
  const agreed = await confirm({
    title: text("threads.delete_question", { title }),
    body: text("threads.delete_body"),
    action: text("threads.delete"),
    danger: true,
  });
  if (!agreed) return false;
  try {
    await remove(`/api/threads/${thread_id}`);
  } catch (problem) {
    notifyProblem(problem);
    return false;
  }
  notify(text("threads.deleted"));
  threadsChanged.value += 1;
  if (thread.peek()?.thread_id === thread_id) goToThread(null);
  return true;
}

/** Save a thread as a file. @param {ThreadName} of @param {"markdown" | "json"} format */
export async function exportThread({ thread_id, title }, format) {
  const version = thread.peek()?.thread_id === thread_id ? shownVersion.peek() : null;
  try {
    const response = await send("GET", `/api/threads/${thread_id}/export`, { query: { format, version } });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${title.replace(/[\\/:*?"<>|\p{Cc}]+/gu, " ").trim() || "thread"}.${format === "markdown" ? "md" : "json"}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 0);
  } catch (problem) {
    notifyProblem(problem);
  }
}

/** @returns {Promise<Map<string, string>>} the states of threads in which a run works or waits */
export async function activeThreads() {
  const { items } = await get("/api/runs", { status: ["running", "waiting"], limit: 200 });
  return new Map(items.map((/** @type {any} */ run) => [run.thread_id, run.status]));
}
