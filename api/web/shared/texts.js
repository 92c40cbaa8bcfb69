/** The words that all rooms share. */

import { loadTexts } from "./texts/texts.js";

await loadTexts(import.meta.url);
