"""Make text from an untrusted source safe to display.

Law: the result is printable and unambiguous: characters that have an effect (control a terminal, break a line, change
its direction) or are invisible are escaped. Text without such characters is unchanged.
"""

from __future__ import annotations


def shown(text: str, keep: str = "") -> str:
    """Return `text` with escapes for all unprintable characters, except those in `keep`, such as line breaks."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else escaped(char) for char in text)


def escaped(char: str) -> str:
    """Return the escape of one character, in the syntax of the language."""
    letter = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    if letter is not None:
        return letter
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
