"""The assistant's own tools, beside those of the drive. May import `memory`, `messages`, `drive`."""
