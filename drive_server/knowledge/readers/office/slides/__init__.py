"""The reader of PowerPoint presentations (ECMA-376 part 1, section 19.3): `presentation` is its door."""
