/** Icons, drawn as lines on a grid of 24. Each stands beside words or has a name where it is used. */

import { html } from "../preact.js";

/** @type {Record<string, string>} */
const PATHS = {
  folder: "M3 7a2 2 0 0 1 2-2h4l2 2h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  text: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01",
  pdf: "M2 6h20v12H2zM5.5 15V9h1.500a1.7 1.7 0 0 1 0 3.400H5.5M11 15V9h1a2.5 3 0 0 1 0 6zM17 15V9h2.500M17 12h2",
  slides: "M3 5h18v11H3zM12 16v4M8 20h8",
  audio: "M9 18V5l10-2v13M9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM19 16a3 3 0 1 1-6 0 3 3 0 0 1 6 0z",
  video: "M3 6h13v12H3zM16 10l5-3v10l-5-3z",
  sheet: "M4 4h16v16H4zM4 10h16M4 15h16M10 4v16",
  archive: "M4 4h16v5H4zM5 9v11h14V9M10 13h4",
  code: "M9 7l-5 5 5 5M15 7l5 5-5 5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  check: "M5 13l4 4L19 7",
  circle: "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14z",
  close: "M6 6l12 12M18 6L6 18",
  more: "M6 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM13 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0zM20 12a1 1 0 1 1-2 0 1 1 0 0 1 2 0z",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  back: "M19 12H5M11 6l-6 6 6 6",
  left: "M15 6l-6 6 6 6",
  right: "M9 6l6 6-6 6",
  expand: "M6 9l6 6 6-6",
  upload: "M12 16V4M7 9l5-5 5 5M4 16v4h16v-4",
  download: "M12 4v12M7 11l5 5 5-5M4 16v4h16v-4",
  share:
    "M18 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 22a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.6 10.5l6.8-4M8.6 13.5l6.8 4",
  link: "M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v6M14 11v6",
  restore: "M4 10a8 8 0 1 1 1 6M4 4v6h6",
  undo: "M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6",
  redo: "M15 7l5 5-5 5M20 12H10a6 6 0 0 0-6 6",
  star: "M12 4l2.5 5.3 5.5.8-4 4 1 5.9-5-2.8L7 20l1-5.9-4-4 5.5-.8z",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6 6 0 0 1 3 5.5",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  chat: "M4 5h16v11H9l-5 4z",
  send: "M5 12h14M13 6l6 6-6 6",
  stop: "M7 7h10v10H7z",
  print: "M7 9V4h10v5M7 17H4v-8h16v8h-3M7 14h10v6H7z",
  pause: "M8 6v12M16 6v12",
  play: "M7 5l12 7-12 7z",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  compare: "M12 4v16M4 8h5M4 12h5M4 16h5M15 8h5M15 16h5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  attach: "M20 11l-8 8a5 5 0 0 1-7-7l8-8a3.5 3.5 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  grid: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8h.01",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  lock: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3",
  history: "M4 10a8 8 0 1 1 1 6M4 4v6h6M12 8v4l3 2",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  plan: "M4 6l2 2 3-3M4 13l2 2 3-3M12 7h8M12 14h8M12 20h8",
  tool: "M14 7a4 4 0 0 1 5-4l-2.5 2.5 2 2L21 5a4 4 0 0 1-5 5l-8 8-3-3 8-8z",
  menu: "M4 7h16M4 12h16M4 17h16",
  sort: "M7 5v14M4 16l3 3 3-3M17 19V5M14 8l3-3 3 3",
  spark: "M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2z",
  key: "M8 20a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM11 13l9-9M16 8l3 3",
  server: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  memory: "M7 4h10v16l-5-4-5 4z",
};

/** @param {{name: string, label?: string, class?: string}} properties `label` names it where it stands alone */
export function Icon({ name, label, class: extra = "" }) {
  return html`<svg
    class=${`icon ${extra}`}
    viewBox="0 0 24 24"
    role=${label ? "img" : undefined}
    aria-label=${label}
    aria-hidden=${label ? undefined : "true"}
  >
    <path d=${PATHS[name] ?? PATHS.file} />
  </svg>`;
}
