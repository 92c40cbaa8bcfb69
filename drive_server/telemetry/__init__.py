"""The process as whoever runs it sees it: its log with the security channel, and its metrics. May import `escaping`."""
