"""Input as programs and models really send it: JSON with halves of characters, arguments that are null."""
