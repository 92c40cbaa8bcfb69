"""Text and its parts: decoding, elements, sentences, words, places. May import nothing else of `knowledge`."""
