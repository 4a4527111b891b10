"""The system's own resolver against a name server gone mad."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ALONE = ["unshare", "--map-root-user", "--net", "--mount"]
CAN_BE_ALONE = (
    all(map(shutil.which, ("unshare", "ip", "mount")))
    and Path("/etc/resolv.conf").is_file()
    and subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode
    == 0
)


@pytest.mark.skipif(not CAN_BE_ALONE, reason="no network namespaces here")
def test_a_thousand_addresses_and_names_that_never_end_do_no_harm():
    program = Path(__file__).with_name("name_server.py")
    ended = subprocess.run(
        [*ALONE, sys.executable, program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["many.test"]["addresses"] == [f"127.0.0.{n}" for n in range(1, 9)]
    reasons = {
        host: told[f"{host}.test"]["reason"] for host in ("loop", "long", "none")
    }
    assert reasons == {"loop": "dns", "long": "dns", "none": "dns"}
    for host in ("broken.test", "mute.test"):
        assert told[host]["reason"] == "dns_temporary"
    assert told["garbage.test"]["reason"] in ("dns", "dns_temporary")
    assert told["forged.test"].get("addresses", []) != ["10.9.9.9"], told["forged.test"]
    assert told["flood.test"].get("addresses", ["127.0.0.8"]) == ["127.0.0.8"]
    # It moved; the guard looks at each answer (tests/fetch/test_egress_guard.py).
    assert told["flip.test"]["addresses"] == ["127.0.0.9"]
    assert told["flip.test again"]["addresses"] == ["10.9.9.9"]
    assert max(told[host]["seconds"] for host in told if host != "crawl") < 15
    crawl = told["crawl"]
    assert (crawl["kept"], crawl["unusable"]) == (1, {"dns": 1})
