/** The name of an item as a field, in its place. */

import { isComposing } from "../../shared/keys.js";
import { html, useLayoutEffect, useRef } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { rename, stemLength } from "../actions/operations.js";
import { renaming } from "./selection/chosen.js";

/** @param {{item: import("./items/ordering.js").Item}} properties */
export function RenameField({ item }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const isOver = useRef(false);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(0, stemLength(item));
  }, []);
  const end = () => {
    isOver.current = true;
    const list = field.current?.closest('[role="grid"]');
    renaming.value = null;
    if (list instanceof HTMLElement) list.focus();
  };
  const submit = async () => {
    if (isOver.current) return;
    isOver.current = true;
    if (await rename(item, field.current?.value.trim() ?? "")) end();
    else {
      isOver.current = false;
      field.current?.focus();
    }
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === "Enter") void submit();
    if (event.key === "Escape") end();
  };
  return html`<input
    ref=${field}
    class="rename"
    defaultValue=${item.name}
    aria-label=${text("files.rename_label", { name: item.name })}
    autocomplete="off"
    spellcheck=${false}
    onKeyDown=${press}
    onBlur=${submit}
  />`;
}
