"""Pages for people, without scripts, in English and Chinese."""
