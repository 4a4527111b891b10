"""The options class of strategies that have no options."""

from __future__ import annotations

from opilio.settings import Section


class NoOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No options."""
