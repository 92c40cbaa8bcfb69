"""The reader of Word documents (ECMA-376 part 1, section 17), found by their relationships: `document` is its door."""
