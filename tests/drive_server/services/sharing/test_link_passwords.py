from __future__ import annotations

import unicodedata

import anyio
import pytest

from drive_server.kernel.errors import InvalidInputError, PasswordRequiredError, RateLimitError
from drive_server.services.sharing.link_passwords import GUESSES, LinkPasswords
from tests.fakes.clock import Seconds

LINK = "a" * 32


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def passwords(seconds: Seconds) -> LinkPasswords:
    return LinkPasswords(seconds)


@pytest.mark.parametrize("password", ["correct horse", "正确的马电池订书钉", "🐴🔋📎🐴🔋📎🐴🔋", " eight sp"])
async def test_the_password_is_right_and_every_other_is_wrong(passwords: LinkPasswords, password: str) -> None:
    kept = await passwords.hash(password)
    await passwords.check(LINK, kept, password)
    for wrong in ("", password + " ", password[:-1], password.upper() + "x", "\ud800", "x" * 10_000):
        with pytest.raises(PasswordRequiredError):
            await passwords.check(LINK, kept, wrong)


async def test_composed_and_decomposed_passwords_are_one(passwords: LinkPasswords) -> None:
    kept = await passwords.hash("café crème")
    await passwords.check(LINK, kept, unicodedata.normalize("NFD", "café crème"))


async def test_what_is_kept_is_salted_and_is_not_the_password(passwords: LinkPasswords) -> None:
    first, second = await passwords.hash("correct horse"), await passwords.hash("correct horse")
    assert first != second
    assert "correct" not in first
    assert await passwords.digest("correct horse", "a") == await passwords.digest("correct horse", "a")
    assert await passwords.digest("correct horse", "a") != await passwords.digest("correct horse", "b")


@pytest.mark.parametrize("password", ["", "seven77", "x" * 129, "correct \udfff horse"])
async def test_passwords_that_are_too_short_too_long_or_no_text_are_refused(
    passwords: LinkPasswords, password: str
) -> None:
    with pytest.raises(InvalidInputError):
        await passwords.hash(password)


async def test_after_ten_wrong_ones_even_the_right_one_waits_for_the_minute_to_end(
    passwords: LinkPasswords, seconds: Seconds
) -> None:
    kept = await passwords.hash("correct horse")
    for _ in range(GUESSES):
        with pytest.raises(PasswordRequiredError):
            await passwords.check(LINK, kept, "wrong horse")
    seconds.now += 20
    with pytest.raises(RateLimitError) as caught:
        await passwords.check(LINK, kept, "correct horse")
    assert caught.value.details == {"limit": GUESSES, "retry_after_seconds": 40}
    await passwords.check("b" * 32, kept, "correct horse")
    seconds.now += 40
    await passwords.check(LINK, kept, "correct horse")


async def test_who_knows_the_password_does_not_wait_for_others_who_guess(passwords: LinkPasswords) -> None:
    kept = await passwords.hash("correct horse")
    await passwords.check(LINK, kept, "correct horse")
    for _ in range(GUESSES):
        with pytest.raises(PasswordRequiredError):
            await passwords.check(LINK, kept, "wrong horse")
    await passwords.check(LINK, kept, "correct horse")
    changed = await passwords.hash("another horse")
    with pytest.raises(RateLimitError):
        await passwords.check(LINK, changed, "correct horse")


async def test_right_ones_do_not_count(passwords: LinkPasswords) -> None:
    kept = await passwords.hash("correct horse")
    for _ in range(GUESSES + 1):
        await passwords.check(LINK, kept, "correct horse")


async def test_of_many_wrong_ones_at_once_no_more_than_ten_are_tried(passwords: LinkPasswords) -> None:
    kept = await passwords.hash("correct horse")
    outcomes: list[type[Exception]] = []

    async def guess(number: int) -> None:
        try:
            await passwords.check(LINK, kept, f"wrong horse {number}")
        except (PasswordRequiredError, RateLimitError) as error:
            outcomes.append(type(error))

    async with anyio.create_task_group() as group:
        for number in range(3 * GUESSES):
            group.start_soon(guess, number)

    assert (outcomes.count(PasswordRequiredError), outcomes.count(RateLimitError)) == (GUESSES, 2 * GUESSES)
