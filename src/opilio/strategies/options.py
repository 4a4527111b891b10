"""What can be set in a strategy: sections like those of the settings."""

from __future__ import annotations

from typing import Literal

from opilio.config import Section

Mode = Literal["fixed", "paper"]
"""`paper`: to the letter, made to terminate; `fixed`: the evident intent."""


class NoOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing can be set."""
