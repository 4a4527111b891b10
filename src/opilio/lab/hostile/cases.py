"""All hostile cases by name."""

from __future__ import annotations

from opilio.lab.hostile.content_cases import CONTENT_CASES
from opilio.lab.hostile.wire_cases import WIRE_CASES

CASES = {case.name: case for case in (*WIRE_CASES, *CONTENT_CASES)}
