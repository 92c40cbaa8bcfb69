"""Routes about people: how they log in, what they say of themselves, accounts, groups and notices."""
