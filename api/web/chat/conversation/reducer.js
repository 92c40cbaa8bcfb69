/** What an event of a run does to its turn. Pure: the same events, once or twice, make the same turn. */

/** @typedef {import("./turn.js").Turn} Turn */
/** @typedef {import("./turn.js").Part} Part */
/** @typedef {import("../../shared/api/event_stream.js").StreamEvent} StreamEvent */

/**
 * @param {Turn} turn
 * @param {StreamEvent} event
 * @returns {Turn}
 */
export function withEvent(turn, event) {
  const id = Number(event.id) || 0;
  if (id && id <= turn.lastEvent) return turn;
  const change = CHANGES[event.type];
  const changed = change ? { ...turn, ...change(turn, event.data, id) } : turn;
  const isText = event.type === "content" || event.type === "reasoning" || event.type === "reading";
  const reading = event.type === "reading" ? changed.reading : null;
  return { ...changed, reading, lastEvent: id || turn.lastEvent, marks: isText ? changed.marks : {} };
}

/** @type {Record<string, (turn: Turn, data: any, id: number) => Partial<Turn>>} */
const CHANGES = {
  run: (turn, data) => ({ runId: data.run_id, status: "running", replaces: data.replaces ?? turn.replaces }),
  route_decision: (turn, data, id) => {
    const { agent, reason, method } = data;
    if (method !== "handover") return { route: { agent, reason, method } };
    return { parts: [...turn.parts, { kind: "handover", key: `handover-${id}`, agent, reason }] };
  },
  content: withText,
  reasoning: (turn, data, id) => {
    const last = turn.parts.at(-1);
    if (last?.kind === "reasoning") return { parts: replaced(turn.parts, last.key, { text: last.text + data.text }) };
    return { parts: [...turn.parts, { kind: "reasoning", key: `reasoning-${id}`, text: data.text }] };
  },
  reading: (_turn, { read, total }) => ({ reading: total ? { read, total } : null }),
  citations: (turn, data) => {
    const said = turn.parts.findLast((part) => part.kind === "text" && part.messageId === data.message_id);
    return said ? { parts: replaced(turn.parts, said.key, { citations: data.citations }) } : {};
  },
  tool_call_start: (turn, data) =>
    withCall(turn, data.tool_call_id, { name: data.name, args: data.args, status: "pending" }),
  tool_progress: (turn, data) => withCall(turn, data.tool_call_id, without(data, "tool_call_id")),
  tool_call_end: (turn, data) => {
    const { tool_call_id, name, status, result, duration_ms: duration } = data;
    return withCall(turn, tool_call_id, { name, status, result, duration });
  },
  "assistant.toolCall.updated": (turn, { toolCall }) =>
    withCall(turn, toolCall.id, { record: toolCall, status: toolCall.status }),
  map_progress: withFile,
  task_plan: (turn, data, id) => ({ plan: { ...data, status: "running" }, parts: withPlanPart(turn, id) }),
  task_step_update: (turn, data) => withStep(turn, data.step_id, without(data, "step_id")),
  plan_paused: (turn, data) => withPlan(turn, { version: data.version, status: "paused" }),
  plan_resumed: (turn, data) => withPlan(turn, { version: data.version, status: "running" }),
  plan_edited: (turn, data) => withPlan(turn, { version: data.version, steps: mergedSteps(turn, data.steps) }),
  plan_revised: (turn, data) =>
    withPlan(turn, { version: data.version, steps: mergedSteps(turn, data.steps), why: data.why, status: "running" }),
  approval_needed: (turn, data) => ({
    status: "waiting",
    parts: withoutTwins(turn.parts, {
      kind: "approval",
      key: data.approval_id,
      approval: { ...data, status: "waiting" },
    }),
  }),
  run_parked: () => ({ status: "waiting" }),
  approval_expired: (turn, data) => withApproval(turn, data.approval_id, { status: "expired" }),
  approval_resolved: (turn, data) => ({
    status: "running",
    ...withApproval(turn, data.approval_id, { status: data.status, decisions: data.decisions }),
  }),
  done: (turn, data) => ({ ...ended(turn, data), status: data.status, usage: data.usage, limit: data.limit ?? null }),
  error: (turn, data) => ({
    ...ended(turn, data),
    status: "error",
    error: { code: data.code, message: data.message, retryable: data.retryable },
  }),
};

/** @param {Turn} turn @param {any} data */
function ended(turn, data) {
  const plan = turn.plan && { ...turn.plan, status: endOf(turn.plan.steps) };
  return { changes: data.changes ?? [], groups: data.groups ?? [], plan };
}

/** How a plan stands when its run is over; steps are skipped without a failure only if it was stopped. @param {any[]} steps */
function endOf(steps) {
  const has = (/** @type {string} */ status) => steps.some((step) => step.status === status);
  if (steps.some((step) => step.status === "pending" && step.question)) return "waiting";
  if (has("pending") || has("in-progress")) return "interrupted";
  return has("skipped") && !has("failed") ? "stopped" : "done";
}

/**
 * @param {Turn} turn
 * @param {{text: string, message_id: string, step_id?: string, restarts?: boolean}} data
 */
function withText(turn, data) {
  const before = data.restarts ? withoutUnmarked(turn) : turn;
  const { parts } = before;
  const key = `text-${data.message_id}`;
  const known = parts.find((part) => part.key === key);
  const length = known?.kind === "text" ? known.text.length : 0;
  const marks = key in before.marks ? before.marks : { ...before.marks, [key]: length };
  if (known?.kind === "text") return { marks, parts: replaced(parts, key, { text: known.text + data.text }) };
  /** @type {Part} */
  const part = { kind: "text", key, messageId: data.message_id, stepId: data.step_id, text: data.text };
  return { marks, parts: [...parts, part] };
}

/** Take away what was said since the last event of another type: the service says it anew. @param {Turn} turn */
function withoutUnmarked(turn) {
  const parts = turn.parts.flatMap((part) => {
    if (part.kind !== "text" || !(part.key in turn.marks)) return [part];
    const length = turn.marks[part.key];
    return length ? [{ ...part, text: part.text.slice(0, length) }] : [];
  });
  return { ...turn, parts, marks: {} };
}

/** @param {Turn} turn @param {string} key @param {Record<string, any>} facts */
function withCall(turn, key, facts) {
  if (turn.parts.some((part) => part.key === key)) return { parts: replaced(turn.parts, key, facts) };
  const { record } = facts;
  const begun = { name: record?.toolName ?? "", args: record?.arguments ?? {}, status: "pending", result: "" };
  return { parts: [...turn.parts, /** @type {Part} */ ({ kind: "call", key, ...begun, ...facts })] };
}

/** @param {Turn} turn @param {{step_id: string, item_id: string, path: string, status: string, total: number}} data */
function withFile(turn, { step_id, item_id, path, status, total }) {
  const key = `files-${step_id}`;
  const known = turn.parts.find((part) => part.key === key);
  const before = known?.kind === "files" ? known.files.filter((file) => file.item_id !== item_id) : [];
  const files = [...before, { item_id, path, status }];
  return {
    parts: known
      ? replaced(turn.parts, key, { files, total })
      : [...turn.parts, /** @type {Part} */ ({ kind: "files", key, files, total })],
  };
}

/** @param {Turn} turn @param {number} id @returns {Part[]} */
const withPlanPart = (turn, id) =>
  turn.parts.some((part) => part.kind === "plan") ? turn.parts : [...turn.parts, { kind: "plan", key: `plan-${id}` }];

/** @param {Turn} turn @param {Record<string, any>} facts */
const withPlan = (turn, facts) => (turn.plan ? { plan: { ...turn.plan, ...facts } } : {});

/** @param {Turn} turn @param {string} id @param {Record<string, any>} facts */
function withStep(turn, id, facts) {
  if (!turn.plan) return {};
  return withPlan(turn, {
    steps: turn.plan.steps.map((/** @type {any} */ step) => (step.id === id ? { ...step, ...facts } : step)),
  });
}

/** Keep what is known of steps that stay. @param {Turn} turn @param {any[]} steps */
function mergedSteps(turn, steps) {
  const known = new Map((turn.plan?.steps ?? []).map((/** @type {any} */ step) => [step.id, step]));
  return steps.map((step) => ({ ...known.get(step.id), ...step }));
}

/** @param {Turn} turn @param {string} key @param {Record<string, any>} facts */
function withApproval(turn, key, facts) {
  const part = turn.parts.find((one) => one.key === key);
  return part?.kind === "approval"
    ? { parts: replaced(turn.parts, key, { approval: { ...part.approval, ...facts } }) }
    : {};
}

/** @param {Part[]} parts @param {Part} part */
const withoutTwins = (parts, part) => [...parts.filter((one) => one.key !== part.key), part];

/** @param {Part[]} parts @param {string} key @param {Record<string, any>} facts @returns {Part[]} */
const replaced = (parts, key, facts) =>
  parts.map((part) => (part.key === key ? /** @type {Part} */ ({ ...part, ...facts }) : part));

/** The facts of an event without its type and the key of what it is about. @param {Record<string, any>} data @param {string} key */
const without = (data, key) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => name !== key && name !== "type"));
