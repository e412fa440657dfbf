"""What tests share. They need pytest alone; those that need another package are skipped without it."""

import os

import pytest

import brute


@pytest.fixture
def path(tmp_path):
    """Where a store can be created."""
    return tmp_path / "store"


@pytest.fixture
def other(tmp_path):
    """Where another one can be."""
    return tmp_path / "other"


@pytest.fixture
def model():
    return brute.Model


@pytest.fixture
def near():
    return brute.clustered


@pytest.fixture
def programs():
    """The directory of fpload, fpquery and the others."""
    found = os.environ.get("FPSTORE_PROGRAMS")
    if not found:
        pytest.skip("FPSTORE_PROGRAMS does not name the directory of the programs")
    return found
