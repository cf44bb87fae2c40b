"""Keys: what a terminal sends, told apart into the keys that were pressed.

An arrow is several bytes, which a slow line may deliver one by one; a lone Escape is told from the first of them only
by waiting. The forms are those of ECMA-48 (CSI and SS3) as xterm, VT220 and the Linux console send them. A pasted text
(between CSI 200~ and CSI 201~) is no key.
"""

from __future__ import annotations

import codecs
import re

ESCAPE = "\x1b"
# One whole key at the beginning of what has come. CSI [ is how the Linux console begins its function keys.
_KEY = re.compile(r"\x1b\[\[.|\x1b\[[0-?]*[ -/]*[@-Z\\-~]|\x1b[NO].|\x1b\x1b|\x1b[^\[NO]|[^\x1b]", re.DOTALL)
# The beginning of a form that nothing can end any more: what follows is read afresh.
_BROKEN = re.compile(r"\x1b\[[0-?]*[ -/]*(?=[^ -~])")
_FINAL = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "M": "enter"}
_NUMBERED = {"1": "home", "7": "home", "4": "end", "8": "end", "5": "page up", "6": "page down"}
_CONTROLS = {
    "\r": "enter",
    "\n": "enter",
    " ": "space",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x03": "ctrl-c",
    "\x04": "ctrl-d",
    "\x0c": "ctrl-l",
    "\x1a": "ctrl-z",
    "\x1b\x1b": "escape",
}
_PASTE_BEGINS, _PASTE_ENDS = "\x1b[200~", "\x1b[201~"


class Keys:
    """The keys in what a terminal sends. A key is its letter, or a name: "enter", "left", "page up", "escape".

    >>> keys = Keys()
    >>> keys.pressed(b"n\\x1b["), keys.is_waiting
    (['n'], True)
    >>> keys.pressed(b"C\\x1bOD\\x1b"), keys.given_up()
    (['right', 'left'], ['escape'])
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._pasting = False

    @property
    def is_waiting(self) -> bool:
        """Whether the beginning of a key has come, of which the rest may follow."""
        return bool(self._text) and not self._pasting

    def pressed(self, data: bytes) -> list[str]:
        """The keys that are whole now that these bytes have come."""
        self._text += self._decoder.decode(data)
        found: list[str] = []
        while self._text:
            if self._pasting:
                before, ended, self._text = self._text.partition(_PASTE_ENDS)
                if not ended:  # what may be the beginning of the end is kept
                    self._text = before[-(len(_PASTE_ENDS) - 1) :]
                    break
                self._pasting = False
                continue
            whole = _KEY.match(self._text)
            if whole is None:
                broken = _BROKEN.match(self._text)
                if broken is None:
                    break
                self._text = self._text[broken.end() :]
                continue
            self._text = self._text[whole.end() :]
            self._pasting = whole[0] == _PASTE_BEGINS
            name = _name(whole[0])
            if name is not None:
                found.append(name)
        return found

    def given_up(self) -> list[str]:
        """What the beginning of a key is when nothing follows it: Escape when it is that alone, else no key."""
        text, self._text = self._text, ""
        return ["escape"] if text == ESCAPE else []


def _name(form: str) -> str | None:
    """The name of a key by what is sent for it; None for a key that has no name here."""
    if form in _CONTROLS:
        return _CONTROLS[form]
    if form[0] != ESCAPE:
        return form if form.isprintable() else None
    if form[1] not in "[O":
        return None  # Alt and a letter
    if form.endswith("~"):
        return _NUMBERED.get(form[2:-1].partition(";")[0])
    # with Shift, Alt or Ctrl an arrow is CSI 1;2 A
    return _FINAL.get(form[-1]) if len(form) == 3 or form.startswith("\x1b[1;") else None
