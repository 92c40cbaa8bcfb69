"""A person's whole drive, given out and taken in again: every item with its versions, access and place in the trash.

May import what the services of files, documents and sharing may, and these.
"""
