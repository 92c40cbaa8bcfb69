"""The files of an export: where each thing stands, under which name, with which hash; and how they are read again."""
