"""How many examples the property tests take: `cargo xtask test --long`, which sets FPSTORE_LONG, takes many."""

import os

from hypothesis import HealthCheck, settings

IS_LONG = os.environ.get("FPSTORE_LONG", "") not in ("", "0")


def examples(count, **more):
    """Settings of a test with this many examples."""
    count *= 20 if IS_LONG else 1
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), **more)
