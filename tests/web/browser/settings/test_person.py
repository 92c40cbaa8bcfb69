"""What people set for themselves: profile, password, browsers, passkeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

PASSWORD = "a long enough password"


def test_a_profile_is_changed_and_the_page_speaks_the_language_at_once(visits: Visits, owner: Person) -> None:
    ana = owner.add_new("ana")
    page = visits.open("#/settings/profile", ana)
    page.get_by_label("Name").fill("Ana")
    page.get_by_label("Time zone").fill("Nowhere/Land")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("Ana")
    page.get_by_label("Time zone").fill("Asia/Shanghai")
    page.get_by_label("Language").select_option("中文")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="个人资料")).to_be_visible()
    expect(page.get_by_text("已保存。").first).to_be_visible()
    said = ana.get("/api/auth/me")
    assert (said["name"], said["time_zone"], said["language"]) == ("Ana", "Asia/Shanghai", "zh")
    page.get_by_role("radio", name="深色").check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert violations(page) == []
    ana.close()


def test_a_password_is_set_and_a_wrong_old_one_is_no_end_of_the_session(visits: Visits, owner: Person) -> None:
    ben = owner.add_new("ben")
    page = visits.open("#/settings/security", ben, size=NARROWEST)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_text("The password is set.").first).to_be_visible()
    login = {"email": ben.email, "password": PASSWORD}
    assert ben.http.post("/api/auth/login", json=login).is_success
    page.get_by_label("Password until now").fill("wrong")
    page.get_by_label("New password").fill("another long password")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("New password")).to_have_value("another long password")
    assert violations(page) == []
    ben.close()


def test_another_browser_is_signed_out(visits: Visits, owner: Person) -> None:
    eve = owner.add_new("eve")
    other = visits.open("", eve)
    page = visits.open("#/settings/security", eve)
    expect(page.get_by_text("This browser", exact=True)).to_have_count(1)
    page.get_by_role("button", name="Sign out all other browsers").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign out all other browsers")).to_have_count(0)
    assert other.context.request.get("/api/auth/me").status == 401
    assert page.context.request.get("/api/auth/me").ok
    eve.close()


def test_a_passkey_is_added_signs_in_and_is_removed(visits: Visits, owner: Person) -> None:
    kim = owner.add_new("kim")
    base = str(owner.http.base_url).replace("127.0.0.1", "localhost")
    page = visits.open("#/settings/security", kim)
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.context.request.post(f"{base}/api/auth/login", data={"token": kim.token})
    visits.foreign.clear()
    page.goto(f"{base}/#/settings/security")
    page.get_by_label("What you call it").fill("Laptop")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("button", name="Remove the passkey Laptop")).to_be_visible()
    page.get_by_role("button", name="Sign out here").click()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("button", name="Account of").click()
    page.get_by_role("menuitem", name="Settings").click()
    page.get_by_role("link", name="Security").click()
    page.get_by_role("button", name="Remove the passkey Laptop").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("You have no passkey yet.")).to_be_visible()
    visits.foreign[:] = [url for url in visits.foreign if not url.startswith(base)]
    kim.close()
