"""The files of deploy/."""
