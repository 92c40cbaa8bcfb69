/** A file that is found by its name and by a passage is shown by its passage. */

/**
 * @template {{file: {id: string}, start: number, end: number}} T
 * @param {T[]} hits
 * @returns {T[]}
 */
export function onceEach(hits) {
  const withPassage = new Set(hits.filter((hit) => hit.end > hit.start).map((hit) => hit.file.id));
  return hits.filter((hit) => hit.end > hit.start || !withPassage.has(hit.file.id));
}
