/** Decisions about the calls of an approval: made one by one, and sent together. */

import { get, post } from "../../shared/api/request.js";
import { Problem } from "../../shared/api/problem.js";
import { useRef, useState } from "../../shared/preact.js";
import { look } from "../waiting_list.js";

/** @typedef {import("../waiting_list.js").Approval} Approval */
/** @typedef {{type: "approve" | "edit" | "reject" | "respond", args?: Record<string, any>, message?: string, grant?: {folder_id: string, minutes: number, max_items: number}}} Decision */
/** @typedef {{made: Record<string, Decision>, isSending: boolean, problem: unknown, closed: Approval | null}} Deciding */

const CLOSED = new Set(["approval_decided", "approval_expired", "approval_cancelled"]);
/** The approvals that were decided in this page. @type {Set<string>} */
export const decidedHere = new Set();

/**
 * @param {string} id of the approval
 * @param {string[]} calls ids of all its calls
 */
export function useDecisions(id, calls) {
  const [state, setState] = useState(
    /** @type {Deciding} */ ({ made: {}, isSending: false, problem: null, closed: null }),
  );
  const isUnderWay = useRef(false);
  const send = async (/** @type {Record<string, Decision>} */ made) => {
    // The second press of a double click would be told that somebody else decided.
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setState((now) => ({ ...now, made, isSending: true, problem: null }));
    try {
      decidedHere.add(id);
      const decisions = calls.map((call) => ({ tool_call_id: call, ...made[call] }));
      const closed = await post(`/api/approvals/${id}`, { decisions });
      setState((now) => ({ ...now, isSending: false, closed }));
    } catch (problem) {
      decidedHere.delete(id);
      const closed = problem instanceof Problem && CLOSED.has(problem.code) ? await asItIs(id) : null;
      setState((now) => ({
        ...now,
        made: remaining(made, problem),
        isSending: false,
        problem: closed ? null : problem,
        closed,
      }));
    } finally {
      isUnderWay.current = false;
    }
    void look();
  };
  return {
    ...state,
    /** Decide about one call; the only one is sent at once. @param {string} call @param {Decision} decision */
    decide: (call, decision) => {
      const made = { ...state.made, [call]: decision };
      if (calls.length === 1) void send(made);
      else setState({ ...state, made, problem: null });
    },
    /** @param {string} call */
    reconsider: (call) => setState({ ...state, made: without(state.made, call), problem: null }),
    /** Decide in the same way about all that is not decided yet, and send. @param {Decision} decision */
    decideRest: (decision) => send(Object.fromEntries(calls.map((call) => [call, state.made[call] ?? decision]))),
    sendAll: () => send(state.made),
  };
}

/** What is refused is decided about again. @param {Record<string, Decision>} made @param {any} problem */
function remaining(made, problem) {
  const call = problem?.details?.tool_call_id;
  if (call) return without(made, call);
  return Object.keys(made).length === 1 ? {} : made;
}

/** @param {Record<string, Decision>} made @param {string} call */
const without = (made, call) => Object.fromEntries(Object.entries(made).filter(([id]) => id !== call));

/** @param {string} id @returns {Promise<Approval | null>} */
const asItIs = (id) => get(`/api/approvals/${id}`).catch(() => null);
