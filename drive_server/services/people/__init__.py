"""Accounts as administrators see them: listed, changed, disabled, removed. May import `services.files` and below."""
