/** Differences of texts, line by line: read from a unified diff, or found between two texts. */

/**
 * @typedef {object} DiffLine
 * @property {"same" | "added" | "removed" | "gap"} kind gap: lines in between are left out
 * @property {number | null} before its number in the text before
 * @property {number | null} after its number in the text after
 * @property {string} text
 * @property {[number, number]} [changed] from where to where it differs from the line in whose place it stands
 */

/**
 * Read a unified diff.
 * @param {string} diff
 * @returns {DiffLine[]}
 */
export function parseDiff(diff) {
  /** @type {DiffLine[]} */
  const lines = [];
  let before = 0;
  let after = 0;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      // A part without lines is named by the line before it.
      before = Number(hunk[1]) + (hunk[2] === "0" ? 1 : 0);
      after = Number(hunk[3]) + (hunk[4] === "0" ? 1 : 0);
      if (before > 1 || lines.length) lines.push({ kind: "gap", before: null, after: null, text: "" });
    } else if (before + after === 0) continue;
    else if (line[0] === "+") lines.push({ kind: "added", before: null, after: after++, text: line.slice(1) });
    else if (line[0] === "-") lines.push({ kind: "removed", before: before++, after: null, text: line.slice(1) });
    else if (line[0] !== "\\") lines.push({ kind: "same", before: before++, after: after++, text: line.slice(1) });
  }
  return markChanges(lines);
}

/** Of a longer way from one text to the other nobody would read the steps. */
const MAX_STEPS = 1500;
const AROUND = 3;

/**
 * Return how one text becomes the other, with a few lines around each difference.
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffTexts(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end += 1;
  const middle = steps(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const kinds = [...Array(start).fill("same"), ...middle, ...Array(end).fill("same")];
  let [left, right] = [0, 0];
  const lines = kinds.map((kind) => {
    const isOld = kind !== "added";
    const isNew = kind !== "removed";
    const text = isOld ? old[left] : now[right];
    return /** @type {DiffLine} */ ({ kind, before: isOld ? ++left : null, after: isNew ? ++right : null, text });
  });
  return markChanges(withoutTheSame(lines));
}

/**
 * The shortest way from one list of lines to the other (Myers).
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Array<"same" | "added" | "removed">}
 */
function steps(old, now) {
  /** @type {Array<Map<number, number>>} */
  const trace = [];
  /** @type {Map<number, number>} */
  const reached = new Map([[1, 0]]);
  const most = Math.min(old.length + now.length, MAX_STEPS);
  for (let step = 0; step <= most; step += 1) {
    trace.push(new Map(reached));
    for (let way = -step; way <= step; way += 2) {
      let x = goesDown(reached, way, step) ? (reached.get(way + 1) ?? 0) : (reached.get(way - 1) ?? 0) + 1;
      while (x < old.length && x - way < now.length && old[x] === now[x - way]) x += 1;
      reached.set(way, x);
      if (x >= old.length && x - way >= now.length) return back(trace, old.length, now.length);
    }
  }
  return [...Array(old.length).fill("removed"), ...Array(now.length).fill("added")];
}

/** @param {Map<number, number>} reached @param {number} way @param {number} step */
const goesDown = (reached, way, step) =>
  way === -step || (way !== step && (reached.get(way - 1) ?? -1) < (reached.get(way + 1) ?? -1));

/**
 * @param {Array<Map<number, number>>} trace
 * @param {number} x
 * @param {number} y
 */
function back(trace, x, y) {
  /** @type {Array<"same" | "added" | "removed">} */
  const found = [];
  for (let step = trace.length - 1; step >= 0; step -= 1) {
    const reached = trace[step];
    const way = x - y;
    const from = goesDown(reached, way, step) ? way + 1 : way - 1;
    const fromX = step ? (reached.get(from) ?? 0) : 0;
    const fromY = step ? fromX - from : 0;
    while (x > fromX && y > fromY) {
      found.push("same");
      x -= 1;
      y -= 1;
    }
    if (step) found.push(x === fromX ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return found.reverse();
}

/** @param {DiffLine[]} lines */
function withoutTheSame(lines) {
  const isDifferent = (/** @type {DiffLine} */ line) => line.kind !== "same";
  if (!lines.some(isDifferent)) return [];
  /** @type {DiffLine[]} */
  const kept = [];
  lines.forEach((line, index) => {
    const near = lines.slice(Math.max(0, index - AROUND), index + AROUND + 1);
    if (near.some(isDifferent)) kept.push(line);
    else if (kept[kept.length - 1]?.kind !== "gap") kept.push({ kind: "gap", before: null, after: null, text: "" });
  });
  return kept;
}

/** Mark in lines that stand in each other's place what is different in them. @param {DiffLine[]} lines */
function markChanges(lines) {
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at].kind !== "removed") continue;
    let middle = at;
    while (lines[middle]?.kind === "removed") middle += 1;
    let end = middle;
    while (lines[end]?.kind === "added") end += 1;
    if (middle - at === end - middle)
      for (let index = 0; index < middle - at; index += 1) markPair(lines[at + index], lines[middle + index]);
    at = end - 1;
  }
  return lines;
}

/** @param {DiffLine} removed @param {DiffLine} added */
function markPair(removed, added) {
  const [one, other] = [removed.text, added.text];
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < shorter - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  // Lines that have hardly anything in common are told apart by their colour alone.
  if (start + end < shorter / 3) return;
  removed.changed = [start, one.length - end];
  added.changed = [start, other.length - end];
}
