"""`opilio topic show` of a large ontology shows the top and how to see all of it."""

import pytest

from in_process import run


@pytest.fixture
def topic(tmp_path):
    rows = [f"hive,superTopicOf,part {number}" for number in range(200)]
    (tmp_path / "bees.csv").write_text("\n".join(rows) + "\n")
    file = tmp_path / "bees.toml"
    file.write_text(
        'name = "bees"\n[ontology]\nfiles = ["bees.csv"]\nconcepts = ["hive"]\n'
    )
    return file


def test_a_long_table_is_cut_and_says_how_to_see_all(topic):
    shown = run("topic", "show", topic)
    assert shown.code == 0, shown.err
    rows = [line for line in shown.out.splitlines() if "\tpart " in line]
    assert 30 <= len(rows) < 70
    assert "… and 171 more; `opilio topic show TOPIC.toml --all`" in shown.out


def test_all_rows_are_shown_if_they_are_asked_for(topic):
    shown = run("topic", "show", topic, "--all")
    rows = {line for line in shown.out.splitlines() if "\tpart " in line}
    assert len(rows) == 200 and "more;" not in shown.out
