"""The built-in offline model: a chat model of rules, for when no other is set."""
