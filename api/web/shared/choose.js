/** Choosing files of the person's device. */

/**
 * Let the person choose; nothing happens where they choose nothing.
 * @param {{multiple?: boolean, webkitdirectory?: boolean}} how
 * @param {(files: File[]) => void} use
 */
export function chooseOfDevice(how, use) {
  const input = document.createElement("input");
  Object.assign(input, how);
  input.type = "file";
  input.hidden = true;
  input.addEventListener("change", () => {
    use([...(input.files ?? [])]);
    input.remove();
  });
  input.addEventListener("cancel", () => input.remove());
  // Some browsers forget a field that is not in the page before the person has chosen.
  document.body.append(input);
  input.click();
}
