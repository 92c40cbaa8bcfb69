"""The log of a process: its form, whom each line is about, and the security channel. May import `escaping`."""
