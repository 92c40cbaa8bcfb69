/** HTML inside Markdown: words and their shape, after the sanitizer; nothing that loads, links, runs or styles. */

import { html, useEffect, useState } from "../preact.js";

const ALLOWED = {
  ALLOWED_TAGS:
    "p br hr b strong i em u s del ins sub sup kbd mark small code pre q blockquote ul ol li dl dt dd table thead tbody tr th td details summary div span h3 h4 h5 h6".split(
      " ",
    ),
  ALLOWED_ATTR: ["open", "colspan", "rowspan", "lang", "dir"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** Until the sanitizer is there nothing is shown of it. @param {{source: string}} properties */
export function RawHtml({ source }) {
  const [clean, setClean] = useState("");
  useEffect(() => {
    let wanted = true;
    void import("../../vendor/dompurify.js").then(({ default: purify }) => {
      if (wanted) setClean(purify.sanitize(source, ALLOWED));
    });
    return () => {
      wanted = false;
    };
  }, [source]);
  return clean && html`<div dangerouslySetInnerHTML=${{ __html: clean }}></div>`;
}
