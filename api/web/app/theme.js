/** Light or dark: what the person chose, or else what the system says. */

import { effect, signal } from "../shared/preact.js";
import { isPrinting } from "../shared/printing.js";
import { theme } from "../shared/theme.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);

/** Keep the page in the theme. */
export function followTheme() {
  dark.addEventListener("change", (event) => (systemIsDark.value = event.matches));
  effect(() => {
    const chosen = theme.value === "system" ? (systemIsDark.value ? "dark" : "light") : theme.value;
    // Paper is white.
    document.documentElement.dataset.theme = isPrinting.value ? "light" : chosen;
  });
}
