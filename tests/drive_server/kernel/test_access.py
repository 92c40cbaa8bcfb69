from __future__ import annotations

import pytest

from drive_server.kernel.access import (
    ALL_SCOPES,
    Actor,
    Principal,
    Role,
    Scope,
    parse_role,
    require_role,
    require_scope,
)
from drive_server.kernel.errors import ForbiddenError, InvalidInputError, MissingScopeError, NotFoundError


def principal_with(*scopes: Scope) -> Principal:
    return Principal("id", "ana@example.com", frozenset(scopes), "api_key")


@pytest.mark.parametrize("scope", list(Scope))
def test_a_missing_scope_is_named(scope: Scope) -> None:
    require_scope(principal_with(scope), scope)
    with pytest.raises(MissingScopeError) as caught:
        require_scope(principal_with(*(ALL_SCOPES - {scope})), scope)
    assert caught.value.status == 403
    assert caught.value.details == {"scope": scope.value}
    assert scope.value in caught.value.message


@pytest.mark.parametrize("needed", list(Role))
def test_a_role_suffices_for_itself_and_for_all_below(needed: Role) -> None:
    for role in Role:
        if role >= needed:
            assert require_role(role, needed, "id") is role
        else:
            with pytest.raises(ForbiddenError) as caught:
                require_role(role, needed, "id")
            assert caught.value.details == {"needed": needed.label, "role": role.label}


@pytest.mark.parametrize("needed", list(Role))
def test_without_any_role_the_item_does_not_exist(needed: Role) -> None:
    with pytest.raises(NotFoundError) as caught:
        require_role(None, needed, "x" * 5000)
    assert caught.value.details == {"id": "x" * 64}


@pytest.mark.parametrize(("word", "role"), [("viewer", Role.VIEWER), ("editor", Role.EDITOR)])
def test_viewer_and_editor_can_be_given(word: str, role: Role) -> None:
    assert parse_role(word) is role
    assert role.label == word


@pytest.mark.parametrize("word", ["", "owner", "Viewer", "admin", "viewer ", "3", "查看者", "\x00"])
def test_no_other_role_can_be_given(word: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_role(word)


def test_an_actor_is_its_principal_and_asks_for_nothing_special() -> None:
    actor = Actor(principal_with(Scope.READ))
    assert actor.user_id == "id"
    assert (actor.dry_run, actor.if_match, actor.idempotency_key, actor.run_id) == (False, None, None, None)
