"""Email addresses: which are valid, and the normal form in which they are stored and compared."""

import unicodedata

from drive_server.kernel.errors import InvalidInputError

MAX_EMAIL_CHARACTERS = 254
MAX_LOCAL_CHARACTERS = 64
MAX_LABEL_CHARACTERS = 63
LOCAL_SYMBOLS = frozenset(".!#$%&'*+/=?^_`{|}~-")


def normalise_email(raw: str) -> str:
    """Return the address in its stored form: NFC, case folded. Applied twice it stays the same.

    Addresses in any script pass (RFC 6531); quoted local parts, comments and display names don't.
    Raises `InvalidInputError` for a text that does not look like an address.
    """
    email = _fold(raw.strip(" ")) if len(raw) <= 2 * MAX_EMAIL_CHARACTERS else ""
    local, at, domain = email.rpartition("@")
    is_domain = all(_is_label(label) for label in domain.split("."))
    if not at or len(email) > MAX_EMAIL_CHARACTERS or not _is_local(local) or not is_domain:
        raise InvalidInputError("That is not an email address.", hint="Use an address such as ana@example.com.")
    return email


def has_lookalike(raw: str) -> bool:
    """Return whether normalising turned another letter into a plain one: `ſam@` becomes `sam@`."""
    return any(not character.isascii() and any(map(str.isascii, _fold(character))) for character in raw)


def _fold(text: str) -> str:
    # Folding can leave a text that is not NFC, and composing can leave one that folds again: U+0345 is the known case.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold()))


def _is_local(part: str) -> bool:
    dots_are_inside = not part.startswith(".") and not part.endswith(".") and ".." not in part
    return (
        0 < len(part) <= MAX_LOCAL_CHARACTERS
        and dots_are_inside
        and all(character in LOCAL_SYMBOLS or _is_word(character) for character in part)
    )


def _is_label(label: str) -> bool:
    hyphens_are_inside = not label.startswith("-") and not label.endswith("-")
    return (
        0 < len(label) <= MAX_LABEL_CHARACTERS
        and hyphens_are_inside
        and all(character == "-" or _is_word(character) for character in label)
    )


def _is_word(character: str) -> bool:
    """Return whether it is a letter, mark or digit of any script."""
    return unicodedata.category(character)[0] in "LMN"
