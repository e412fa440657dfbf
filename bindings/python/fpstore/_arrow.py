"""pyarrow, which comes without types."""

from __future__ import annotations

import importlib
from typing import Any

pa: Any = importlib.import_module("pyarrow")
pc: Any = importlib.import_module("pyarrow.compute")
pq: Any = importlib.import_module("pyarrow.parquet")
