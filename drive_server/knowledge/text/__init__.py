"""Text and its parts: decoding, elements, sentences, words, places. Imports nothing else of `knowledge`."""
