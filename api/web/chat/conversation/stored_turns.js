/** Makes turns of the messages of a thread, and adds the turns that the service does not have. Pure. */

import { isActive, newTurn } from "./turn.js";

/** @typedef {import("./turn.js").Turn} Turn */
/** @typedef {import("./turn.js").TurnStatus} TurnStatus */
/** @typedef {import("../../shared/api/types.js").Schema<"ThreadView">} Thread */

/**
 * @param {Thread} thread
 * @param {Array<{run_id: string, status: string}>} runs the thread's, to know how each turn ended
 * @returns {Turn[]}
 */
export function storedTurns(thread, runs) {
  const ends = new Map(runs.map((run) => [run.run_id, /** @type {TurnStatus} */ (run.status)]));
  /** @type {Turn[]} */
  const turns = [];
  for (const message of thread.messages) {
    if (message.role === "user" || !turns.length) turns.push(turnOf(message, ends));
    if (message.role === "assistant") addAnswer(/** @type {Turn} */ (turns.at(-1)), message);
    if (message.role === "tool") addResult(/** @type {Turn} */ (turns.at(-1)), message);
  }
  return turns;
}

/** @param {any} message @param {Map<string, TurnStatus>} ends @returns {Turn} */
function turnOf(message, ends) {
  const isPerson = message.role === "user";
  return newTurn({
    key: message.id ?? "",
    runId: isPerson ? message.id : "",
    message: isPerson ? message.text : "",
    attachments: message.attachments ?? [],
    versions: message.versions,
    status: ends.get(message.id) ?? "success",
    changes: null,
  });
}

/** @param {Turn} turn @param {any} message */
function addAnswer(turn, message) {
  const { incomplete = null } = message;
  if (message.text.trim()) {
    const citations = message.citations.length ? message.citations : undefined;
    turn.parts.push({ kind: "text", key: `text-${message.id}`, messageId: message.id, text: message.text, citations });
  }
  // The run may be forgotten by now; its answer still knows how it ended.
  if (incomplete && turn.status === "success") turn.status = incomplete === "stopped" ? "cancelled" : "error";
  for (const call of message.tool_calls) {
    const { tool_call_id: key, name, args } = call;
    turn.parts.push({ kind: "call", key, name, args, status: "pending", result: "" });
  }
  for (const record of message.toolCalls ?? []) {
    const call = turn.parts.find((part) => part.key === record.id);
    const facts = { record, status: record.status, name: record.toolName, args: record.arguments };
    if (call) Object.assign(call, facts);
    else turn.parts.push({ kind: "call", key: record.id, result: record.response, ...facts });
  }
}

/** @param {Turn} turn @param {any} message */
function addResult(turn, message) {
  const call = turn.parts.find((part) => part.key === message.tool_call_id);
  if (call?.kind === "call") Object.assign(call, { status: message.status ?? "done", result: message.text });
}

/**
 * Add to the turns of the service those that it did not send: messages that could not be sent, and what was said while
 * the thread was loaded. Of an active turn the one with more events stays: its stream may be open already. It stays the
 * last, because events go to the last turn.
 * @param {Turn[]} stored
 * @param {Turn[]} shown
 * @param {Set<string>} before ids of the runs that were shown when the loading began
 * @returns {Turn[]}
 */
export function withOwnTurns(stored, shown, before) {
  const ids = new Set(stored.map((turn) => turn.runId));
  const own = shown.filter(({ runId, status }) =>
    runId ? !before.has(runId) && !ids.has(runId) : status === "sending" || status === "unsent",
  );
  // A message that is answered anew stands for the version before.
  const others = stored
    .filter((turn) => own.every(({ key }) => key !== turn.key))
    .map((turn) => (isActive(turn) && shown.find((one) => isFurther(one, turn))) || turn);
  const last = others.at(-1);
  return last && isActive(last) ? [...others.slice(0, -1), ...own, last] : [...others, ...own];
}

/** Whether it has more events of the same run. @param {Turn} one @param {Turn} other */
const isFurther = (one, other) => one.runId === other.runId && one.lastEvent > other.lastEvent;
