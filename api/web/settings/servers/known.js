/** The person's servers, with the live state of their connections. */

import { follow } from "../../shared/api/event_stream.js";
import { get } from "../../shared/api/request.js";
import { signal, useEffect } from "../../shared/preact.js";

/** @typedef {import("./change.js").Server} Server */

/** @type {import("../../vendor/signals.js").Signal<Server[] | null>} */
export const servers = signal(null);
/** @type {import("../../vendor/signals.js").Signal<unknown>} */
export const failure = signal(null);

/** Ask for all servers. */
export async function loadServers() {
  try {
    servers.value = (await get("/api/mcp-servers")).items;
    failure.value = null;
  } catch (error) {
    failure.value = error;
  }
}

/** Keep the servers as they are while the component is there. */
export function useServers() {
  useEffect(() => {
    const abort = new AbortController();
    loadServers();
    follow("/api/mcp-servers/events", { abort: abort.signal, onEvent: ({ data }) => hear(data) }).catch((error) => {
      failure.value = error;
    });
    addEventListener("focus", loadServers);
    return () => {
      abort.abort();
      removeEventListener("focus", loadServers);
    };
  }, []);
}

/** @param {{type: string, server_id: string, status: Server["status"], sentence: string | null}} event */
function hear({ type, server_id: id, status, sentence }) {
  const known = servers.peek()?.find((one) => one.id === id);
  if (type !== "server_status" || !known || (known.status === status && known.sentence === sentence)) return;
  // Why a server fails, as a code, is in the list alone.
  if (status === "error") loadServers();
  servers.value = (servers.peek() ?? []).map((one) => (one.id === id ? { ...one, status, sentence } : one));
}
