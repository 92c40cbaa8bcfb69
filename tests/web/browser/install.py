"""`python -m tests.web.browser.install`: installs Debian's packages of the browser, if absent."""

from tests.conformance.webdav.install import install
from tests.web.browser.chromium import HEADLESS, WHOLE

if __name__ == "__main__":
    install({WHOLE: WHOLE, HEADLESS: HEADLESS})
