"""Finds Chromium, and starts it without a way to the network and within limits."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from opilio.errors import BadInput

NAMES = (
    *("chromium-headless-shell", "chrome-headless-shell", "chromium"),
    *("chromium-browser", "google-chrome", "google-chrome-stable"),
)
MEMORY = 1536 * 1024  # KiB of data that one process of the browser may have
HEAP = 512  # MiB of it for the objects of scripts
# A request that escaped the routes would find no name and no address: every host is
# mapped to none, also addresses in digits and the proxy, which nobody listens at.
NO_NETWORK = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-features=DnsOverHttps,NetworkPrediction,Prerender2,SpeculationRules,"
    "OptimizationHints,MediaRouter,Translate,WebTransport",
)
LIMITS = (
    f"--js-flags=--max-old-space-size={HEAP}",
    "--renderer-process-limit=4",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-file-system",
    "--mute-audio",
    "--blink-settings=imagesEnabled=false",
)


def find_chromium(given: str) -> str:
    """The path of the browser; BadInput with a remedy if there is none."""
    names = (given,) if given else NAMES
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        missing = f"{given} is not a program" if given else "there is no Chromium"
        raise BadInput(
            f"browser.render needs a browser, but {missing}; install one (Debian: "
            "apt-get install chromium-headless-shell), or give its path with "
            "browser.executable"
        )
    return found


def require_playwright() -> None:
    """Raise BadInput unless the library that drives the browser is installed."""
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        raise BadInput(
            "browser.render needs playwright; install it with "
            "pip install 'opilio[browser]'"
        )


def write_starter(chromium: str, folder: Path) -> Path:
    """A program that starts the browser with limits that it cannot lift."""
    starter = folder / "start-browser"
    command = shlex.quote(chromium)
    starter.write_text(
        f'#!/bin/sh\nulimit -d {MEMORY}\nulimit -c 0\nexec {command} "$@"\n'
    )
    starter.chmod(0o700)
    return starter


def environment() -> dict[str, str | float | bool]:
    """The environment of the browser: none of our keys and passwords is in it."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
        "DBUS_SYSTEM_BUS_ADDRESS": "disabled:",
    }


def has_sandbox() -> bool:
    """Whether Chromium's own sandbox can be used: it refuses to work for root."""
    return os.geteuid() != 0
