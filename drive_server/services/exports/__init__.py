"""A person's whole drive, given out and taken in again: every item with its versions, access and place in the trash.

May import these services, and whatever those of files, documents and sharing may.
"""
