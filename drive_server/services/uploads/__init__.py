"""Resumable uploads: begun, continued, put into the drive once.

May import `services.documents` and `services.files`.
"""
