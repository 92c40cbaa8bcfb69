"""The files of an export: the place of each thing, its name, its hash; and how they are read again."""
