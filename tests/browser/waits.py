"""Waits of the browser tests: for a condition, never for a time. A busy machine may take long, a quick one need not."""

import time

PATIENCE = 300  # seconds that a page may take for anything


def open_page(browser, **options):
    """A new page that is waited for as long as a busy machine takes."""
    page = browser.new_page(**options)
    page.set_default_timeout(1000 * PATIENCE)
    return page


def grab(locator, across=0.5):
    """Press the mouse on a control, at a share of its width, once it stays at its place; return its box.

    The box alone could be that of a moment before the page was laid out.
    """
    width = locator.bounding_box()["width"]
    locator.hover(position={"x": min(max(across * width, 7), width - 7), "y": locator.bounding_box()["height"] / 2})
    locator.page.mouse.down()
    return locator.bounding_box()


def until(page, so, why, seconds=PATIENCE):
    """Wait for something to be so. why: what is said where it never is, or a function that gives it."""
    end = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < end, why() if callable(why) else why
        page.wait_for_timeout(30)


def lasting(page, look, seconds=PATIENCE):
    """Return the flaws that `look` still finds after the page has had its time."""
    end = time.monotonic() + seconds
    while (bad := look()) and time.monotonic() < end:
        page.wait_for_timeout(100)
    return bad


def rests(page, expression="0", frames=5):
    """Wait until an expression of JavaScript has had one value in so many frames that the page has drawn."""
    page.evaluate(f"""async () => {{
      let [last, same] = ["", 0];
      while (same < {frames}) {{
        await new Promise(requestAnimationFrame);
        const now = JSON.stringify({expression});
        [last, same] = [now, now === last ? same + 1 : 0];
      }}
    }}""")
