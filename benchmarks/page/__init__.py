"""The page in a browser, by the browser's own counters."""
