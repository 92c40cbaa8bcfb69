/** The command palette: commands, and files by name as one types. */

import { get } from "../../shared/api/request.js";
import { commandSources } from "../../shared/commands.js";
import { Dialog, showDialog } from "../../shared/components/dialogs.js";
import { Icon } from "../../shared/components/icon.js";
import { isComposing } from "../../shared/keys.js";
import { go } from "../../shared/location.js";
import { fileCommands } from "../../files/navigation/commands.js";
import { sectionCommands } from "../../settings/sections.js";
import { html, useEffect, useMemo, useRef, useState } from "../../shared/preact.js";
import { loadStyles } from "../../shared/styles/load.js";
import { loadTexts, text } from "../../shared/texts/texts.js";
import { ranked } from "./ranking.js";
import { keepUsed, usedBefore } from "./used.js";

await Promise.all([loadTexts(import.meta.url), loadStyles(import.meta.url, "./styles/palette.css")]);

/** @typedef {import("../../shared/commands.js").Command} Command */

const PAUSE = 150;
const MAX_FILES = 6;

let isOpen = false;

/** Show the palette, once. */
export async function openPalette() {
  if (isOpen) return;
  isOpen = true;
  await showDialog((close) => html`<${Palette} onClose=${close} />`);
  isOpen = false;
}

/** @param {{onClose: (result?: any) => void}} properties */
function Palette({ onClose }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const commands = useMemo(
    () => [...commandSources.value.flatMap((source) => source()), ...fileCommands(), ...sectionCommands()],
    [],
  );
  const files = useFiles(typed.trim());
  const entries = entriesFor(typed.trim(), commands, files);
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }), [chosen]);
  const run = (/** @type {Command} */ entry) => {
    onClose();
    if (commands.includes(entry)) keepUsed(entry.id);
    entry.run();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (isComposing(event)) return;
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 + entries.length }[event.key];
    if (to === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (to !== undefined) setAt(to % entries.length);
    else if (entries[chosen]) run(entries[chosen]);
  };
  return html`<${Dialog} title=${text("palette.title")} class="palette" onClose=${onClose}>
    <input
      autofocus
      role="combobox"
      aria-label=${text("palette.title")}
      aria-expanded="true"
      aria-controls="palette-list"
      aria-activedescendant=${entries[chosen] ? `palette-${chosen}` : undefined}
      aria-autocomplete="list"
      autocomplete="off"
      placeholder=${text("palette.placeholder")}
      value=${typed}
      onInput=${(/** @type {any} */ event) => {
        setTyped(event.currentTarget.value);
        setAt(0);
      }}
      onKeyDown=${press}
    />
    <div role="listbox" id="palette-list" aria-label=${text("palette.title")} ref=${list}>
      ${entries.map(
        (entry, index) =>
          html`<${Entry}
            key=${entry.id}
            entry=${entry}
            index=${index}
            isChosen=${index === chosen}
            onRun=${run}
            onPoint=${setAt}
          />`,
      )}
    </div>
    ${!entries.length && html`<p class="quiet" role="status">${text("palette.none")}</p>`}
  <//>`;
}

/** @param {{entry: Command, index: number, isChosen: boolean, onRun: (entry: Command) => void, onPoint: (index: number) => void}} properties */
function Entry({ entry, index, isChosen, onRun, onPoint }) {
  return html`<div
    role="option"
    id=${`palette-${index}`}
    aria-selected=${isChosen}
    onClick=${() => onRun(entry)}
    onPointerMove=${() => onPoint(index)}
  >
    <${Icon} name=${entry.icon ?? "right"} /><bdi>${entry.title}</bdi>${entry.keys && html`<kbd>${entry.keys}</kbd>`}
  </div>`;
}

/** @param {string} words @param {Command[]} commands @param {any[]} files @returns {Command[]} */
function entriesFor(words, commands, files) {
  const found = ranked(words, commands, usedBefore());
  if (!words) return found;
  const opened = files.map((file) => ({
    id: `file ${file.id}`,
    icon: file.kind,
    title: file.path || file.name,
    run: () => go([file.kind, file.id]),
  }));
  const search = {
    id: "search",
    icon: "search",
    title: text("palette.search", { words }),
    run: () => go(["search"], { q: words }),
  };
  return [...opened, search, ...found];
}

/** @param {string} words */
function useFiles(words) {
  const [files, setFiles] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    if (!words) return setFiles([]);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      get("/api/drive/search", { q: words, mode: "name", limit: MAX_FILES }, { signal: abort.signal }).then(
        (result) => setFiles(result.items.map((/** @type {any} */ hit) => hit.file)),
        () => abort.signal.aborted || setFiles([]),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [words]);
  return files;
}
