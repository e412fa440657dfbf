"""Sizes and counts that a notebook shows as a table."""

from __future__ import annotations

from html import escape
from typing import Any


class Stats(dict[str, Any]):
    """A dictionary: what ``Store.stats`` returns."""

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self.items() if not isinstance(value, (list, dict))]
        for table in self.get("tables", []):
            rows.append((f"table {table['name']}", f"{table['bits_per_fingerprint']:.2f} bits a fingerprint"))
        return "<table>" + "".join(_row(name, value) for name, value in rows) + "</table>"


def _row(name: str, value: object) -> str:
    shown = f"{value:,}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
    return f"<tr><td>{escape(name.replace('_', ' '))}</td><td style='text-align:right'>{escape(shown)}</td></tr>"
