"""Readers of mails and of what is attached to them. May import `knowledge.text`."""
