"""The reader of OpenDocument texts and presentations (OASIS OpenDocument 1.3 part 3): `document` is its door."""
