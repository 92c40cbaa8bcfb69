"""Files and folders of the drive from a terminal: fetched, sent, moved, shared and looked at, over HTTP only."""
