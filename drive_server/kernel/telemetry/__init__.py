"""The process as its operator sees it: its log with the security channel, and its metrics. May import `escaping`."""
