"""Search filters: types of files, times of change, owners. The database applies them, never the index."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, or_, select

from drive_server.kernel.access import Principal
from drive_server.kernel.errors import InvalidInputError
from drive_server.knowledge import formats
from drive_server.knowledge.formats import GROUPS
from drive_server.models.items import Kind
from drive_server.services.identity.emails import normalise_email
from drive_server.services.journal.changes import parse_moment
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow

MAX_TYPES = 20
MAX_TYPE_CHARACTERS = 32
OWN, FOREIGN = "me", "shared"

_SUFFIX = re.compile(r"\.[\w+-]+")


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """A filter as the caller wrote it; None or empty does not filter.

    `types` are names of groups and suffixes, of which one has to fit; `modified_after` (inclusive) and
    `modified_before` (exclusive) are ISO 8601, for the contents' own dates; `owner` is `me`, `shared` (anybody else) or
    a person's email.
    """

    types: tuple[str, ...] = ()
    modified_after: str | None = None
    modified_before: str | None = None
    owner: str | None = None

    def key(self) -> tuple[str | None, ...]:
        """Return the values that tell one filter from another."""
        return (" ".join(self.types), self.modified_after, self.modified_before, self.owner)

    def conditions(self, principal: Principal, kind: Kind | None) -> list[ColumnElement[bool]]:
        """Return the conditions on rows of nodes. Raises `InvalidInputError` for a filter that makes no sense."""
        return [*self._of_types(kind), *self._of_times(), *self._of_owner(principal)]

    def _of_types(self, kind: Kind | None) -> Iterator[ColumnElement[bool]]:
        if not self.types:
            return
        if kind == "folder":
            raise InvalidInputError("Folders have no type.", hint="Leave out `types`, or search for files.")
        if len(self.types) > MAX_TYPES:
            raise InvalidInputError(f"At most {MAX_TYPES} types can be asked for.", hint="Name groups, as document.")
        yield NodeRow.kind == "file"
        yield or_(*(condition for wanted in self.types for condition in _of_type(wanted)))

    def _of_times(self) -> Iterator[ColumnElement[bool]]:
        after, before = parse_moment(self.modified_after), parse_moment(self.modified_before)
        if after is not None and before is not None and after >= before:
            raise InvalidInputError(
                "No time is both after `modified_after` and before `modified_before`.",
                hint="`modified_after` is the earlier one.",
            )
        if after is not None:
            yield NodeRow.modified_at >= after
        if before is not None:
            yield NodeRow.modified_at < before

    def _of_owner(self, principal: Principal) -> Iterator[ColumnElement[bool]]:
        if self.owner == OWN:
            yield NodeRow.owner_id == principal.user_id
        elif self.owner == FOREIGN:
            yield NodeRow.owner_id != principal.user_id
        elif self.owner is not None:
            email = _email(self.owner)
            yield NodeRow.owner_id.in_(select(UserRow.id).where(UserRow.email == email))


NO_FILTER: Final = SearchFilter()


def _of_type(wanted: str) -> Iterator[ColumnElement[bool]]:
    word = wanted.strip().lower()
    if word in GROUPS:
        yield from (_ends_with(suffix) for suffix in formats.suffixes_of(word))
        yield from (NodeRow.media_type.like(kind.replace("*", "%")) for kind in formats.media_types_of(word))
    elif word in formats.table.by_suffix:
        yield _ends_with(word)
    elif len(word) <= MAX_TYPE_CHARACTERS and _SUFFIX.fullmatch(word):
        yield _ends_with(word[1:])
    else:
        raise InvalidInputError(
            "There is no such type of file.",
            hint=f"Use {', '.join(GROUPS)}, or a suffix with its dot, as .docx.",
            details={"types": list(GROUPS)},
        )


def _ends_with(suffix: str) -> ColumnElement[bool]:
    return NodeRow.name.iendswith(f".{suffix}", autoescape=True)


def _email(owner: str) -> str:
    try:
        return normalise_email(owner)
    except InvalidInputError as error:
        raise InvalidInputError(
            "That is no owner.", hint=f"Use `{OWN}`, `{FOREIGN}` for what others share, or a person's email address."
        ) from error
