/** A component that is loaded when it is wanted. */

import { Failure, Loading } from "./states.js";
import { html, useEffect, useState } from "../preact.js";

/** @param {{load: () => Promise<any>} & Record<string, any>} properties the rest goes to the component */
export function Lazy({ load, ...rest }) {
  const [state, setState] = useState(/** @type {{component?: any, error?: unknown}} */ ({}));
  const begin = () => {
    setState({});
    load().then(
      (component) => setState({ component }),
      (error) => setState({ error }),
    );
  };
  useEffect(begin, []);
  if (state.error) return html`<${Failure} error=${state.error} onRetry=${begin} />`;
  return state.component ? html`<${state.component} ...${rest} />` : html`<${Loading} />`;
}
