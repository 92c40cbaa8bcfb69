/** A button that lets a person choose files of the device. */

import { Button } from "../../shared/components/button.js";
import { html, useRef } from "../../shared/preact.js";

/** @param {{label: string, multiple?: boolean, onChoose: (files: File[]) => void}} properties */
export function FileButton({ label, multiple = false, onChoose }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const take = () => {
    const files = [...(input.current?.files ?? [])];
    if (input.current) input.current.value = "";
    if (files.length) onChoose(files);
  };
  return html`<${Button} icon="upload" onClick=${() => input.current?.click()}>${label}<//>
    <input ref=${input} type="file" multiple=${multiple} hidden tabindex="-1" aria-hidden="true" onChange=${take} />`;
}
