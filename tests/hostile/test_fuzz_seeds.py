"""What fuzzers found is found no more, and their targets still run."""

from __future__ import annotations

from pathlib import Path

import pytest

from opilio.text.link_joiner import Joiner

bench = pytest.importorskip("bench.fuzz_targets", reason="bench/ is not here")
SEEDS = Path(bench.__file__).with_name("fuzz_seeds")


@pytest.mark.parametrize(
    ("target", "seed"),
    [(path.parent.name, path.name) for path in sorted(SEEDS.glob("*/*"))],
)
def test_a_seed_does_no_harm(target: str, seed: str) -> None:
    bench.TARGETS[target]((SEEDS / target / seed).read_bytes())


def test_every_target_has_seeds() -> None:
    assert {path.name for path in SEEDS.iterdir()} == set(bench.TARGETS)


@pytest.mark.parametrize(
    "href", ["?q", " ?q", "\t?q", "http:?q", "HTTP:?q", "h\nttp:?q"]
)
def test_pages_of_a_folder_do_not_share_what_depends_on_their_names(href: str) -> None:
    told = [Joiner(f"http://a.test/b/{name}")[href][0] for name in ("x", "y")]
    assert told == ["http://a.test/b/x?q", "http://a.test/b/y?q"]


def test_a_file_is_recognised_in_no_time() -> None:
    """Once, all ways to divide a line into comments were tried."""
    from opilio.errors import BadInput
    from opilio.topic.ontology.load import format_of

    for line in (b"# " * 2000, b"! " * 1000, b"<!>" * 1000 + b"x", b"\n# x" * 1000):
        assert format_of(line, "x.txt") in ("rows", "xml")
    with pytest.raises(BadInput, match="OWL/XML"):
        entity = b'<!DOCTYPE Ontology [\n<!ENTITY x "y" >\n]>\n'
        format_of(b'<?xml version="1.0"?>\n' + entity + b"<Ontology/>", "x.owl")
    assert format_of(b"# a\n\n# b\n@prefix x: <y> .", "x") == "turtle"
    assert format_of(b"! a\n! b\nformat-version: 1.2\n", "x") == "obo"
