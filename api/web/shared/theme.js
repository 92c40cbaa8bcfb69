/** The theme that the person chose for this browser. */

import { effect, signal } from "./preact.js";

/** @typedef {"system" | "light" | "dark"} Theme */

const KEPT = "theme";

/** @type {import("../vendor/signals.js").Signal<Theme>} */
export const theme = signal(kept());

effect(() => {
  if (typeof localStorage !== "undefined") localStorage.setItem(KEPT, theme.value);
});

/** @returns {Theme} */
function kept() {
  const value = typeof localStorage === "undefined" ? null : localStorage.getItem(KEPT);
  return value === "light" || value === "dark" ? value : "system";
}
