"""The IrrelevantTable of Aastha's thesis, section 4.6.1 (papers.md E.6-10)."""

from opilio.strategies.shared.irrelevant_table import NO_GROUP, IrrelevantTable


def test_a_group_that_has_sunk_to_the_deepest_level_goes_no_deeper():
    """The pseudo-code follows a relevant page only if its level is below maxLevel."""
    table = IrrelevantTable(max_level=1)
    group = table.open()
    table.fail(group)
    assert table.level(group) == 1
    assert table.deepen(group) == NO_GROUP


def test_a_level_is_one_group_and_there_is_none_beyond_max_level():
    table = IrrelevantTable(max_level=1)
    group = table.open()
    assert table.open() == group
    assert table.level(table.deepen(group)) == 1
    assert table.deepen(group) == NO_GROUP  # the variable of the table is 2 by now


def test_the_next_link_given_up_after_a_restart_is_the_one_after_the_last():
    table, again = IrrelevantTable(max_level=0), IrrelevantTable(max_level=0)
    group = table.open()
    for fingerprint in (5, 6):
        table.join(fingerprint, group)
    table.fail(group)
    assert table.give_up(1) == [5]
    again.load(table.dump())
    for fingerprint in (5, 6):
        again.join(fingerprint, group)
    assert again.give_up(9) == [6]
