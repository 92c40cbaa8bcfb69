/** The conversation that is shown: loaded, followed, and gone on with. */

import { follow, readEvents } from "../../shared/api/event_stream.js";
import { untilOutOfView } from "../../shared/api/in_view.js";
import { get, post, send } from "../../shared/api/request.js";
import { announce, notifyProblem } from "../../shared/components/notices.js";
import { goToThread, place } from "../../shared/location.js";
import { batch, computed, signal } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { eventBatches } from "./batches.js";
import { withEvent } from "./reducer.js";
import { storedTurns, withOwnTurns } from "./stored_turns.js";
import { tellOtherTabs, whenOtherTabsTell } from "./tabs.js";
import { isActive, newTurn } from "./turn.js";

/** @typedef {import("./turn.js").Turn} Turn */
/** @typedef {import("../../shared/attachments.js").Attachment} Attachment */
/** @typedef {import("../../shared/api/types.js").Schema<"ThreadView">} Thread */
/** @typedef {{message: string, attachments: Attachment[]}} Draft */

/** The thread without its messages; null: a new one. @type {import("../../vendor/signals.js").Signal<Thread | null>} */
export const thread = signal(null);
/** @type {import("../../vendor/signals.js").Signal<Turn[]>} */
export const turns = signal([]);
/** @type {import("../../vendor/signals.js").Signal<"ready" | "loading" | "failed">} */
export const state = signal("ready");
/** Why the thread could not be loaded. @type {import("../../vendor/signals.js").Signal<unknown>} */
export const failure = signal(null);
/** The version of the last message that is shown, if it is not the newest. @type {import("../../vendor/signals.js").Signal<string | null>} */
export const shownVersion = signal(null);
/** Whether the stream of the active run is there. */
export const connected = signal(true);
/** Counts what changes the list of threads. */
export const threadsChanged = signal(0);

export const active = computed(() => {
  const last = turns.value.at(-1);
  return isActive(last) ? /** @type {Turn} */ (last) : null;
});

const ALL = 1000;
const TITLE = 80;
let shownId = /** @type {string | null} */ (null);
let following = new AbortController();
let sent = 0;

/** Events go to the turn of their run: at its end the next message may have been sent already, which is the last then. */
const batches = eventBatches((events) => {
  const before = turns.peek();
  turns.value = before.map((turn) =>
    events.reduce((now, { key, event }) => (key === turn.key ? withEvent(now, event) : now), turn),
  );
  const over = turns.peek().filter((turn, at) => isActive(before[at]) && !isActive(turn));
  over.forEach(ended);
});

/** Show a thread; null: an empty one. @param {string | null} id */
export async function show(id) {
  if (id === shownId && state.peek() !== "failed") return;
  leave();
  shownId = id;
  batch(() => {
    thread.value = null;
    turns.value = [];
    shownVersion.value = null;
    failure.value = null;
    state.value = id ? "loading" : "ready";
  });
  if (id) await load(id);
}

/** End the stream of what was shown; the run goes on without the page. */
function leave() {
  following.abort();
  following = new AbortController();
  batches.drop();
  connected.value = true;
}

/**
 * @param {string} id
 * @param {{version?: string | null, limit?: number}} [options]
 */
async function load(id, { version = null, limit } = {}) {
  const { signal: abort } = following;
  const keys = keysOfRuns();
  try {
    const [found, runs] = await Promise.all([
      get(`/api/threads/${id}`, { version, limit }, { signal: abort }),
      get("/api/runs", { thread_id: id, limit: ALL }, { signal: abort }),
    ]);
    if (abort.aborted) return;
    const stored = withTheirKeys(storedTurns(found, runs.items), new Map([...keys, ...keysOfRuns()]));
    await complete(stored, found.run, abort);
    if (abort.aborted) return;
    batch(() => {
      thread.value = { ...found, messages: [] };
      turns.value = withOwnTurns(stored, turns.peek(), new Set(keys.keys()));
      shownVersion.value = version;
      state.value = "ready";
    });
    if (found.run && !found.run.finished_at) void resume(found.run.run_id);
  } catch (error) {
    if (abort.aborted) return;
    failure.value = error;
    state.value = "failed";
  }
}

/** The keys of the turns that are shown, by their runs. */
const keysOfRuns = () => new Map(turns.peek().flatMap(({ runId, key }) => (runId ? [[runId, key]] : [])));

/** Keep the keys of turns that are shown already, so that nothing jumps. @param {Turn[]} stored @param {Map<string, string>} keys */
function withTheirKeys(stored, keys) {
  return stored.map((turn) => ({ ...turn, key: keys.get(turn.runId) ?? turn.key, attachments: turn.attachments }));
}

/**
 * Make the last turn of its run's events, which know more of it than the thread does: times, thoughts, errors, changes.
 * Of a run that is under way everything comes with its events.
 * @param {Turn[]} stored
 * @param {any} run the thread's newest
 * @param {AbortSignal} abort
 */
async function complete(stored, run, abort) {
  const last = stored.at(-1);
  if (!run || last?.runId !== run.run_id) return;
  const { key, runId, message, versions, attachments } = /** @type {Turn} */ (last);
  const empty = newTurn({ key, runId, message, versions, attachments, status: "running" });
  if (!run.finished_at) {
    stored[stored.length - 1] = empty;
    return;
  }
  let turn = empty;
  const response = await send("GET", `/api/runs/${run.run_id}/events`, { signal: abort }).catch(() => null);
  if (response?.status === 200) await readEvents(response, (event) => (turn = withEvent(turn, event)));
  if (!isActive(turn)) stored[stored.length - 1] = turn;
}

/**
 * Follow a run of the thread from the last event on that is here.
 * @param {string} runId
 * @param {string} [key] of its turn, which may not know its run yet
 */
async function resume(runId, key = keysOfRuns().get(runId)) {
  if (!key) return;
  const { signal: abort } = following;
  const ending = new AbortController();
  abort.addEventListener("abort", () => ending.abort());
  const onEvent = (/** @type {import("../../shared/api/event_stream.js").StreamEvent} */ event) => {
    batches.add({ key, event });
    if (event.type !== "done" && event.type !== "error") return;
    batches.flush();
    ending.abort();
  };
  const after = String(turns.peek().find((turn) => turn.key === key)?.lastEvent || "");
  try {
    await follow(`/api/runs/${runId}/events`, {
      after,
      abort: ending.signal,
      onEvent,
      onConnection: (is) => (connected.value = is),
    });
  } catch (error) {
    notifyProblem(error);
  }
  if (abort.aborted) return;
  connected.value = true;
  // The service said that nothing comes any more, and the end was not among what came.
  if (shownId && active.peek()?.key === key) void load(shownId);
}

/**
 * Say something.
 * @param {Draft} draft
 * @param {Record<string, any>} [options] of the request: model, assistant
 */
export function say({ message, attachments }, options = {}) {
  const turn = newTurn({ key: `sent-${++sent}`, message, attachments });
  turns.value = [...turns.peek(), turn];
  const asked = {
    message,
    thread_id: shownId ?? undefined,
    ...placeNow(),
    attachments: attachments.map(reference),
    ...options,
  };
  return begin("/api/chat", asked, turn);
}

/** Change the last message, and have it answered. @param {Turn} turn @param {string} message */
export function edit(turn, message) {
  return answerAnew(turn, `/api/threads/${shownId}/messages/${turn.runId}/edit`, { message }, message);
}

/** Have the last message answered anew. @param {Turn} turn @param {Record<string, any>} [options] */
export function regenerate(turn, options = {}) {
  return answerAnew(turn, `/api/threads/${shownId}/messages/${turn.runId}/regenerate`, options, turn.message);
}

/** Send once more what could not be sent; unless it had arrived. @param {Turn} turn */
export async function sendAgain(turn) {
  const known = keysOfRuns();
  const threadId = shownId;
  try {
    const { items } = threadId ? await get("/api/runs", { thread_id: threadId, limit: 1 }) : { items: [] };
    // Meanwhile another conversation may be shown, or the button was pressed twice.
    if (shownId !== threadId || turns.peek().every(({ key }) => key !== turn.key)) return undefined;
    turns.value = turns.peek().filter(({ key }) => key !== turn.key);
    return await (threadId && items[0] && !known.has(items[0].run_id) ? load(threadId) : say(turn));
  } catch (problem) {
    return notifyProblem(problem);
  }
}

/** @param {Turn} turn @param {string} path @param {Record<string, any>} asked @param {string} message */
async function answerAnew(turn, path, asked, message) {
  const { key, versions, attachments } = turn;
  const anew = newTurn({ key, message, versions, attachments });
  turns.value = [...turns.peek().slice(0, -1), anew];
  shownVersion.value = null;
  await begin(path, asked, anew);
}

/**
 * Send a message and follow what comes. Who leaves before the service has it does not stop it.
 * @param {string} path
 * @param {Record<string, any>} asked
 * @param {Turn} turn the last one, which stands for it
 */
async function begin(path, asked, turn) {
  const { signal: left } = following;
  const reading = new AbortController();
  const view = untilOutOfView(left);
  try {
    const response = await send("POST", path, { json: { mode: "attended", ...asked }, signal: reading.signal });
    if (left.aborted) return reading.abort();
    view.signal.addEventListener("abort", () => reading.abort());
    const runId = response.headers.get("content-location")?.split("/").at(-1) ?? "";
    const key = joinRun(turn, runId);
    await readEvents(response, (event) => {
      if (left.aborted) return;
      if (event.type === "run") accepted(event.data, turn, asked);
      batches.add({ key, event });
      view.release();
    }).catch(() => undefined);
    if (left.aborted) return undefined;
    batches.flush();
    const last = active.peek();
    return last?.key === key ? await resume(last.runId || runId, key) : undefined;
  } catch (error) {
    if (!left.aborted) notSent(turn, error);
  } finally {
    view.end();
  }
  return undefined;
}

/**
 * The turn gets the run that answers it. A command to a plan is answered by the run that has the plan: it is no turn of its own.
 * @param {Turn} turn
 * @param {string} runId
 * @returns {string} the key of the turn that the events are of
 */
function joinRun(turn, runId) {
  const all = turns.peek();
  const known = runId ? all.find((one) => one.runId === runId) : undefined;
  if (known && known.key !== turn.key) {
    turns.value = all.filter((one) => one.key !== turn.key);
    return known.key;
  }
  turns.value = all.map((one) => (one.key === turn.key ? { ...one, runId } : one));
  return turn.key;
}

/** @param {{run_id: string, thread_id: string}} run @param {Turn} turn @param {Record<string, any>} asked */
function accepted({ run_id, thread_id }, turn, asked) {
  if (shownId !== thread_id) {
    shownId = thread_id;
    thread.value = /** @type {any} */ ({ ...asked, thread_id, title: turn.message.slice(0, TITLE) });
    goToThread(thread_id, { replace: true });
  }
  announce(text("chat.answering"));
  threadsChanged.value += 1;
  tellOtherTabs({ threadId: thread_id, runId: run_id });
}

/** @param {Turn} turn @param {unknown} problem */
function notSent(turn, problem) {
  turns.value = turns
    .peek()
    .map((one) => (one.key === turn.key && one.status === "sending" ? { ...one, status: "unsent", problem } : one));
}

/** @param {Turn} turn */
function ended(turn) {
  announce(
    text(turn.status === "success" ? "chat.answered" : turn.status === "cancelled" ? "chat.stopped" : "chat.failed"),
  );
  threadsChanged.value += 1;
  if (shownId) tellOtherTabs({ threadId: shownId, runId: turn.runId });
  if (turn.replaces && shownId) void loadVersions(turn);
}

/** @param {Turn} turn */
async function loadVersions(turn) {
  const { items } = await get(`/api/threads/${shownId}/messages/${turn.runId}/versions`).catch(() => ({ items: [] }));
  const versions = items.map((/** @type {any} */ one) => one.message_id);
  turns.value = turns.peek().map((one) => (one.key === turn.key ? { ...one, versions } : one));
}

/** Stop the run. */
export async function stop() {
  const runId = active.peek()?.runId;
  if (!runId) return;
  await post(`/api/runs/${runId}/cancel`).catch((problem) => problem.code !== "run_finished" && notifyProblem(problem));
}

/** Show another version of the last message. @param {string} id */
export function showVersion(id) {
  const versions = turns.peek().at(-1)?.versions ?? [];
  leave();
  return shownId ? load(shownId, { version: id === versions.at(-1) ? null : id }) : undefined;
}

/** Load the thread with all that was said before. */
export function loadEarlier() {
  return shownId ? load(shownId, { limit: ALL }) : undefined;
}

/** Load the thread anew. */
export function reload() {
  if (!shownId) return undefined;
  state.value = "loading";
  return load(shownId);
}

/** What another tab did in this thread appears here as well. */
whenOtherTabsTell(async ({ threadId, runId }) => {
  if (threadId !== shownId || turns.peek().some((turn) => turn.runId === runId && isActive(turn))) return;
  if (active.peek()) return;
  leave();
  await load(threadId);
});

/** @param {Attachment} item */
const reference = (item) => (item.kind === "folder" ? { folder_id: item.id } : { file_id: item.id });

/** What the person looks at: "this document", "here". */
function placeNow() {
  const [kind, id] = place.peek().path;
  if (kind === "file" && id) return { context: { file_id: id } };
  return kind === "folder" && id ? { context: { folder_id: id } } : {};
}
