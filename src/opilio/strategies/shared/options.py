"""What can be set in a strategy: sections like those of the settings."""

from __future__ import annotations

from opilio.settings import Section


class NoOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing can be set."""
