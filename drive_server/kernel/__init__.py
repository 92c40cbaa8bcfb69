"""The modules that all rooms of the drive share, and the only ones that `api` and `graph` import as well.

They know no item, no tool and no route. Imports nothing else of the drive.
"""
