"""Routes about people: how they log in, their profiles, accounts, groups and notices."""
