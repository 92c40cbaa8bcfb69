"""Stand-in for `unstructured.nlp.tokenize`, which downloads a spaCy model at its first use and has no setting for it.

unstructured asks these three functions whether a paragraph is prose. Headings are told from prose by their markup
here, so it is enough to split sentences and words by rule, in English and Chinese.
"""

import os
import sys
from types import ModuleType

from drive_server.knowledge.text.sentences import split_sentences, split_words

NAME = "unstructured.nlp.tokenize"


def install() -> None:
    """Make unstructured work without a network. Call before the first import of one of its partitioners."""
    os.environ["DO_NOT_TRACK"] = "1"
    os.environ["UNSTRUCTURED_DISABLE_NOTICE"] = "1"
    if NAME in sys.modules:
        return
    module = ModuleType(NAME, __doc__)
    module.__dict__.update(sent_tokenize=split_sentences, word_tokenize=split_words, pos_tag=tag_words)
    sys.modules[NAME] = module


def tag_words(text: str) -> list[tuple[str, str]]:
    """Tag every word as a verb: without a tagger any of them may be one, and a paragraph without a verb is no prose."""
    return [(word, "VB" if word[0].isalpha() else ".") for word in split_words(text)]
