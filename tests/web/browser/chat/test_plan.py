"""The plan of a thread: followed, paused, changed, continued and stopped, and as it was after a reload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.api.fakes import Gate
from tests.api.plan_model import PlanModel, folder, plan_message
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


@pytest.fixture(scope="module")
def model() -> PlanModel:
    return PlanModel()


@pytest.fixture(scope="module")
def router(model: PlanModel) -> PlanModel:
    return model


@pytest.fixture(autouse=True)
def gate(owner: Person, model: PlanModel) -> Generator[Gate]:
    """An empty drive, and what holds the plan in the middle of a step that waits."""
    empty(owner)
    model.gate = Gate()
    yield model.gate
    model.gate.open()


def begin(page: Page, gate: Gate) -> Locator:
    """Have three folders made, and return the plan once the first step waits."""
    names = {"Made first": folder("First", wait=True), "Made second": folder("Second"), "Made third": folder("Third")}
    steps = [{"title": title, "instruction": instruction} for title, instruction in names.items()]
    page.locator("#composer").fill(plan_message(*steps))
    page.keyboard.press("Enter")
    plan = page.get_by_role("region", name="Plan")
    expect(step(plan, "Made first").get_by_role("img", name="At work")).to_be_visible()
    assert gate.reached.wait(20)
    return plan


def step(plan: Locator, title: str) -> Locator:
    return plan.get_by_role("listitem").filter(has_text=title)


def paused(page: Page, gate: Gate) -> Locator:
    """Begin a plan, and pause it after its first step."""
    plan = begin(page, gate)
    plan.get_by_role("button", name="Pause").click()
    expect(plan.get_by_role("status")).to_have_text("0 of 3 steps done · pauses after this step")
    gate.open()
    expect(plan.get_by_role("status")).to_have_text("1 of 3 steps done · paused")
    return plan


def test_a_plan_is_followed_step_by_step(page: Page, owner: Person, gate: Gate) -> None:
    plan = begin(page, gate)
    expect(plan.get_by_role("status")).to_have_text("0 of 3 steps done")
    expect(step(plan, "Made second").get_by_role("img", name="To do")).to_be_visible()
    gate.open()
    expect(plan.get_by_role("status")).to_have_text("3 of 3 steps done")
    expect(plan.get_by_role("button")).to_have_count(0)
    assert owner.names() == ["First", "Second", "Third"]
    assert violations(page) == []


def test_a_plan_that_is_paused_stays_so_after_a_reload_and_goes_on(page: Page, owner: Person, gate: Gate) -> None:
    paused(page, gate)
    assert owner.names() == ["First"]
    page.reload()
    plan = page.get_by_role("region", name="Plan")
    expect(plan.get_by_role("status")).to_have_text("1 of 3 steps done · paused")
    plan.get_by_role("button", name="Continue").click()
    expect(plan.get_by_role("status")).to_have_text("3 of 3 steps done")
    assert owner.names() == ["First", "Second", "Third"]
    page.reload()
    expect(plan.get_by_role("status")).to_have_text("3 of 3 steps done")


def test_a_plan_that_is_stopped_keeps_what_was_done(page: Page, owner: Person, gate: Gate) -> None:
    plan = begin(page, gate)
    plan.get_by_role("button", name="Stop the plan").click()
    expect(plan.get_by_role("status")).to_contain_text("stops after this step")
    gate.open()
    expect(plan.get_by_role("status")).to_have_text("1 of 3 steps done · stopped")
    expect(step(plan, "Made third").get_by_role("img", name="Skipped")).to_be_visible()
    assert owner.names() == ["First"]


def test_steps_are_changed_moved_removed_and_added_by_the_keyboard_alone(page: Page, owner: Person, gate: Gate) -> None:
    plan = paused(page, gate)
    plan.get_by_role("button", name="Change the plan").focus()
    page.keyboard.press("Enter")
    form = plan.get_by_role("form", name="Change the plan")
    second = form.get_by_role("group", name="Step 1")
    expect(second.get_by_label("What to do")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(folder("Renamed"))
    second.get_by_role("button", name="Step 1: move down").focus()
    page.keyboard.press("Enter")
    expect(form.get_by_role("group", name="Step 2").get_by_label("Title")).to_have_value("Made second")
    form.get_by_role("button", name="Step 1: remove").focus()
    page.keyboard.press("Space")
    form.get_by_role("button", name="Add a step").focus()
    page.keyboard.press("Enter")
    added = form.get_by_role("group", name="Step 2")
    expect(added.get_by_label("What to do")).to_be_focused()
    page.keyboard.insert_text(folder("新的文件夹"))
    form.get_by_role("button", name="Save the plan").focus()
    page.keyboard.press("Enter")
    expect(form).to_have_count(0)
    expect(plan.get_by_role("status")).to_have_text("1 of 3 steps done · paused")
    plan.get_by_role("button", name="Continue").click()
    expect(plan.get_by_role("status")).to_have_text("3 of 3 steps done")
    assert sorted(owner.names()) == ["First", "Renamed", "新的文件夹"]


def test_of_two_who_change_a_plan_the_second_is_told_and_loses_nothing_of_it_unseen(
    page: Page, owner: Person, gate: Gate
) -> None:
    plan = paused(page, gate)
    plan.get_by_role("button", name="Change the plan").click()
    form = plan.get_by_role("form", name="Change the plan")
    form.get_by_role("group", name="Step 2").get_by_label("What to do").fill(folder("Mine"))
    thread = page.url.split("thread=")[1]
    address = f"/api/threads/{thread}/plan"
    seen = owner.get(address)
    left = {"version": seen["version"], "steps": [{"id": seen["steps"][1]["id"]}]}
    assert owner.http.patch(address, json=left).is_success
    form.get_by_role("button", name="Save the plan").click()
    expect(form.get_by_role("alert")).to_contain_text("The plan was changed meanwhile.")
    expect(form.get_by_role("group", name="Step 2").get_by_label("What to do")).to_have_value(folder("Mine"))
    form.get_by_role("button", name="Read the plan again").click()
    expect(form.get_by_role("group")).to_have_count(1)
    form.get_by_role("button", name="Cancel").click()
    expect(plan.get_by_role("status")).to_have_text("1 of 2 steps done · paused")


def test_a_plan_fits_the_narrowest_phone_in_chinese_and_in_the_dark(visits: Visits, gate: Gate) -> None:
    page = visits.open(language="zh", size=NARROWEST, dark=True, touch=True)
    page.locator(".side-tabs").get_by_role("button").last.tap()
    page.locator("#composer").fill(
        plan_message(
            {"title": "新建第一个很长很长很长很长很长很长很长的文件夹", "instruction": folder("一", wait=True)},
            {"title": "Supercalifragilisticexpialidocious-without-a-break-anywhere", "instruction": folder("二")},
        )
    )
    page.locator("#composer").press("Enter")
    plan = page.get_by_role("region", name="计划")
    assert gate.reached.wait(20)
    plan.get_by_role("button", name="暂停").tap()
    gate.open()
    expect(plan.get_by_role("status")).to_have_text("共 2 步，已完成 1 步 · 已暂停")
    assert violations(page) == []
    plan.get_by_role("button", name="修改计划").tap()
    expect(plan.get_by_role("form")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []
