"""The store that programs of a person keep things in, below a prefix of theirs. May import `entrance`."""
