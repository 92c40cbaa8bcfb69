/** A turn of a conversation: what the person said, and all that the assistant did and said in answer. */

/** @typedef {import("../../shared/api/types.js").Schema<"CitationView">} Citation */
/** @typedef {import("../../shared/api/types.js").Schema<"ToolCallRecord">} ToolCallRecord */
/** @typedef {"sending" | "unsent" | "running" | "waiting" | "success" | "error" | "cancelled"} TurnStatus */
/**
 * @typedef {object} TextPart
 * @property {"text"} kind
 * @property {string} key
 * @property {string} messageId
 * @property {string} [stepId]
 * @property {string} text
 * @property {Citation[]} [citations]
 */
/**
 * @typedef {object} ReasoningPart
 * @property {"reasoning"} kind
 * @property {string} key
 * @property {string} text
 */
/**
 * @typedef {object} CallPart
 * @property {"call"} kind
 * @property {string} key the id of the call
 * @property {string} name
 * @property {Record<string, any>} args
 * @property {"pending" | "invoking" | "done" | "error" | "cancelled" | "rejected"} status
 * @property {string} result
 * @property {number} [duration] milliseconds
 * @property {string} [message] what it says of its progress
 * @property {number} [progress]
 * @property {number} [total]
 * @property {string} [reason] why nobody was asked: `granted` or `planned`
 * @property {ToolCallRecord} [record] of a call of a server of the person's own
 */
/** @typedef {{kind: "approval", key: string, approval: any}} ApprovalPart */
/** @typedef {{kind: "files", key: string, files: Array<{item_id: string, path: string, status: string}>, total: number}} FilesPart */
/** @typedef {{kind: "plan", key: string}} PlanPart */
/** @typedef {{kind: "handover", key: string, agent: string, reason: string}} HandoverPart */
/** @typedef {TextPart | ReasoningPart | CallPart | ApprovalPart | FilesPart | PlanPart | HandoverPart} Part */
/**
 * @typedef {object} Turn
 * @property {string} key stays the same from the moment that it is sent
 * @property {string} runId "" until the service has it
 * @property {string} message
 * @property {Array<import("../../shared/attachments.js").Attachment>} attachments
 * @property {string[]} versions ids of all versions of the message, if it has several
 * @property {TurnStatus} status
 * @property {Part[]} parts
 * @property {{agent: string, reason: string, method: string} | null} route
 * @property {any} plan
 * @property {any[] | null} changes null: not known yet
 * @property {any[]} groups
 * @property {any} replaces the run of the version before, with what it changed
 * @property {{code: string, message: string, retryable: boolean} | null} error
 * @property {{code: string, message: string, retry_after_seconds?: number} | null} limit
 * @property {Record<string, number> | null} usage
 * @property {{read: number, total: number} | null} reading how many tokens of the request the model's server has read, until it answers
 * @property {number} lastEvent the id of the last event that is in here
 * @property {Record<string, number>} marks how long each text was at the last event of another type
 * @property {unknown} problem why it could not be sent
 */

/**
 * @param {Partial<Turn> & {key: string, message: string}} values
 * @returns {Turn}
 */
export function newTurn(values) {
  return {
    runId: "",
    attachments: [],
    versions: [],
    status: "sending",
    parts: [],
    route: null,
    plan: null,
    changes: [],
    groups: [],
    replaces: null,
    error: null,
    limit: null,
    usage: null,
    lastEvent: 0,
    marks: {},
    reading: null,
    problem: null,
    ...values,
  };
}

/** Say whether the assistant is at work on a turn, or waits for the person. @param {Turn | undefined} turn */
export const isActive = (turn) =>
  turn?.status === "sending" || turn?.status === "running" || turn?.status === "waiting";

/** The answer as text, for copying. @param {Turn} turn */
export function answerText(turn) {
  return turn.parts
    .flatMap((part) => (part.kind === "text" ? [part.text.trim()] : []))
    .filter(Boolean)
    .join("\n\n");
}
