/** What the command palette offers: each room adds its commands while it is shown. */

import { signal, useEffect } from "./preact.js";

/**
 * @typedef {object} Command
 * @property {string} id
 * @property {string} title
 * @property {string} [keys] shown beside, such as "Ctrl+K"
 * @property {string} [icon]
 * @property {() => void} run
 */

/** @type {import("../vendor/signals.js").Signal<Array<() => Command[]>>} */
export const commandSources = signal([]);

/**
 * Offer commands while the component is there.
 * @param {() => Command[]} source asked each time the palette opens
 */
export function useCommands(source) {
  useEffect(() => {
    commandSources.value = [...commandSources.peek(), source];
    return () => (commandSources.value = commandSources.peek().filter((one) => one !== source));
  }, []);
}
