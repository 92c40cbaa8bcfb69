/** The items as rows or pictures. */

import { VirtualList } from "../../shared/components/virtual_list.js";
import { isTyping } from "../../shared/keys.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../shared/preact.js";
import { text } from "../../shared/texts/texts.js";
import { Columns } from "./columns.js";
import { listDragging } from "./dragging.js";
import { marks } from "./items/marks.js";
import { focusNext, pressKey, revealed } from "./keyboard.js";
import { layout, measures } from "./look.js";
import { pointerHandlers } from "./pointer.js";
import { Row, elementId } from "./row.js";
import { clipboard, renaming, selection } from "./selection/chosen.js";

/** @typedef {import("./items/listing.js").Listing} Listing */

const touch = matchMedia("(pointer: coarse)");

/** @param {{listing: Listing, label: string, children?: any}} properties `children` stand where there is nothing to list */
export function ItemList({ listing, label, children }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const room = useRoom(frame);
  const isPictures = layout.value === "pictures";
  const { columns, rowHeight, isNarrow } = measures(layout.value, room.width, touch.matches, room.letters);
  const steps = { columns, page: columns * Math.max(1, Math.floor(room.height / rowHeight) - 1) };
  useKeys(frame, listing, steps);
  const pointer = useMemo(() => pointerHandlers(listing), [listing]);
  const dragging = useMemo(() => listDragging(listing), [listing]);
  const items = listing.items.value;
  useLayoutEffect(() => takeFocus(frame.current), [listing, items.length > 0]);

  const view = selection.value;
  const cut = useMemo(
    () => new Set(clipboard.value?.isCut ? clipboard.value.items.map((item) => item.id) : []),
    [clipboard.value],
  );
  const drawRow = (/** @type {number} */ index) => {
    const item = items[index];
    return html`<${Row}
      key=${item.id}
      item=${item}
      index=${index}
      isChosen=${view.chosen.has(item.id)}
      isActive=${view.active === item.id}
      isCut=${cut.has(item.id)}
      isRenaming=${renaming.value === item.id}
      isPicture=${isPictures}
      mark=${marks.value.get(item.id) ?? ""}
    />`;
  };
  const outer = {
    role: "grid",
    tabindex: 0,
    "aria-label": label,
    "aria-multiselectable": true,
    "aria-rowcount": items.length + 1,
    "aria-activedescendant": view.active ? elementId(view.active) : undefined,
    "aria-busy": listing.isLoading.value,
  };
  const look = `items ${layout.value} ${isNarrow ? "narrow" : ""} ${view.chosen.size ? "choosing" : ""}`;
  return html`<div class="items-frame" ref=${frame} tabindex="-1" ...${pointer} ...${dragging}>
    ${
      items.length
        ? html`<${VirtualList}
            key=${layout.value}
            count=${items.length}
            rowHeight=${rowHeight}
            columns=${columns}
            draw=${drawRow}
            reveal=${revealed.value}
            class=${look}
            outer=${outer}
            header=${html`<${Columns} listing=${listing} sort=${listing.sort} />`}
            rows=${{ role: "rowgroup" }}
          />`
        : children
    }
    <p class="hidden" role="status">${view.chosen.size > 1 ? text("files.chosen", { count: view.chosen.size }) : ""}</p>
  </div>`;
}

/** The list takes the focus if the keyboard led to it. @param {HTMLElement | null} frame */
function takeFocus(frame) {
  if (!focusNext.peek() || !frame) return;
  const list = frame.querySelector('[role="grid"]') ?? frame;
  /** @type {HTMLElement} */ (list).focus();
}

/** How large the browser's letters are, against the usual 16 pixels: heights of lines grow with them. */
const sizeOfLetters = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** @param {{current: HTMLElement | null}} frame */
function useRoom(frame) {
  const [room, setRoom] = useState({ width: 700, height: 600, letters: 1 });
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (frame.current);
    const measure = () =>
      setRoom({ width: element.clientWidth, height: element.clientHeight, letters: sizeOfLetters() });
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(element);
    return () => watching.disconnect();
  }, []);
  return room;
}

/**
 * The keys of the list count while the focus is in it, or nowhere.
 * @param {{current: HTMLElement | null}} frame
 * @param {Listing} listing
 * @param {import("./keyboard.js").Steps} steps
 */
function useKeys(frame, listing, steps) {
  const current = useRef({ listing, steps });
  current.current = { listing, steps };
  useEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {Element} */ (event.target);
      const isHere = frame.current?.contains(target) || target === document.body;
      if (!isHere || event.defaultPrevented || isTyping(target) || document.querySelector("dialog[open]")) return;
      if (target.closest("button") && (event.key === "Enter" || event.key === " ")) return;
      focusNext.value = false;
      pressKey(event, current.current.listing, current.current.steps);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
