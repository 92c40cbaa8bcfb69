"""The service on HTTP: application, schemas, problems, server-sent events.

May import `runs`, `approvals`, `events`, `service`.
"""
