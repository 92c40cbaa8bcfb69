"""Mails to people: written down in the transaction of their cause, sent later. Imports no other service."""
