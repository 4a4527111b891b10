"""Imports pyarrow, or says how to install it."""

from __future__ import annotations

from typing import Any

from opilio.errors import BadInput


def require_pyarrow(what: str) -> Any:
    """The package; BadInput if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise BadInput(f"{what} needs pyarrow: pip install 'opilio[export]'") from None
    return pyarrow
