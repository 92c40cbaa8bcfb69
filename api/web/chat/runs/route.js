/** Which specialist took the turn, in a quiet line. */

import { html } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";

const KNOWN = new Set(["drive_agent", "search_agent", "document_agent", "sharing_agent", "general_agent"]);

/** @param {string} agent */
export const agentWords = (agent) => (KNOWN.has(agent) ? text(`chat.agent.${agent}`) : agent.replaceAll("_", " "));

/** @param {{route: {agent: string, reason: string} | null}} properties */
export function RouteLine({ route }) {
  if (!route) return null;
  return html`<p class="line route" title=${route.reason}>${agentWords(route.agent)}</p>`;
}
