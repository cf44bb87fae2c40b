"""The examples in the docstrings give what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import backprop

MODULES = ["backprop", *(found.name for found in walk_packages(backprop.__path__, "backprop."))]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_in_docstrings_give_what_they_show(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
