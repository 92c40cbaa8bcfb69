"""Text that somebody wrote (names, addresses, titles) as data in output of the drive: one function a medium.

Imports nothing else. `tests/test_media.py` lists the functions of all media, also those that live beside their medium,
feeds them hostile texts, and finds code that writes to a medium without them.
"""
