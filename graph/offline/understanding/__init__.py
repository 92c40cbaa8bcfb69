"""From a person's words to intents, by rules for English and Chinese."""
