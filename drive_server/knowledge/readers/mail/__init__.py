"""Readers of mails and their attachments. May import `knowledge.text`, `readers.extract` and `readers.source`."""
