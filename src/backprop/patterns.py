"""Patterns over the characters of all scripts, ready sooner for a text in plain ASCII."""

from __future__ import annotations

import re
from functools import lru_cache

# In a regular expression: a character beyond ASCII, as itself or by its number.
_ONE = r"(?:\\u[0-9a-f]{4}|\\x[89a-f][0-9a-f]|[^\x00-\x7f])"
# Several in a row, or from one to another. What may be left out does not go with what may not.
_WIDE = re.compile(rf"(?:{_ONE}-{_ONE}|{_ONE})+(?![*?{{])")


def pattern(expression: str, text: str) -> re.Pattern[str]:
    """A regular expression compiled to be matched with a text.

    Classes of characters of all scripts take longer to compile than a short text to read. In a text in plain ASCII
    they find nothing but ASCII, so there any one character beyond it may stand for all the others.

    >>> pattern("[a-zα-ω]+", "abc").fullmatch("abc") is not None
    True
    """
    return _compiled(expression, text.isascii())


@lru_cache(64)
def _compiled(expression: str, plain: bool) -> re.Pattern[str]:
    return re.compile(_WIDE.sub(r"\\xff", expression), re.ASCII) if plain else re.compile(expression)
