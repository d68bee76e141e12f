"""Make text that a stranger has chosen safe for a person to see.

Law: what is shown is printable and has one meaning: characters that would do something (control a terminal, break a
line, turn its direction) or cannot be seen stand as escapes. Text without such characters is shown as it is.
"""

from __future__ import annotations


def shown(text: str, keep: str = "") -> str:
    """Return `text` with escapes for all that is not printable; characters in `keep`, such as line breaks, stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else escaped(char) for char in text)


def escaped(char: str) -> str:
    """Return the escape of one character, as the language reads it."""
    letter = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    if letter is not None:
        return letter
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
