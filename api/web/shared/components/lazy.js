/** A component that is loaded when it is wanted. */

import { Problem } from "../api/problem.js";
import { html, useEffect, useState } from "../preact.js";
import { text } from "../texts/texts.js";
import { Failure, Loading } from "./states.js";

/** @param {{load: () => Promise<any>} & Record<string, any>} properties the rest goes to the component */
export function Lazy({ load, ...rest }) {
  const [state, setState] = useState(/** @type {{component?: any, failed?: boolean}} */ ({}));
  useEffect(() => {
    load().then(
      (component) => setState({ component }),
      () => setState({ failed: true }),
    );
  }, []);
  if (state.failed) return html`<${NotLoaded} />`;
  return state.component ? html`<${state.component} ...${rest} />` : html`<${Loading} />`;
}

/** A browser remembers that a module could not be loaded until the page is loaded again. */
function NotLoaded() {
  const problem = new Problem(503, { detail: text("shared.problem.part"), hint: text("shared.problem.part_hint") });
  const action = text("shared.problem.load_again");
  return html`<${Failure} error=${problem} action=${action} onRetry=${() => location.reload()} />`;
}
