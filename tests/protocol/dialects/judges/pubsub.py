"""What a filter of Google Cloud Pub/Sub means: by descent, one term after the other."""

from __future__ import annotations

import json
import re

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\w][\w-]*|!=|[-=():.,])')


def judge(text, event):
    tokens = TOKEN.findall(text)
    return not tokens or expression(tokens, event)


def expression(tokens, event):
    values, word = [term(tokens, event)], None
    while tokens and tokens[0] in ("AND", "OR"):
        word = tokens.pop(0)
        values.append(term(tokens, event))
    return any(values) if word == "OR" else all(values)


def term(tokens, event):
    front = tokens.pop(0)
    if front in ("NOT", "-"):
        return not term(tokens, event)
    if front == "(":
        value = expression(tokens, event)
        tokens.pop(0)
        return value
    if front == "hasPrefix":
        _, _, _, key, _, value, _ = (tokens.pop(0) for _ in range(7))
        return event.get(unquoted(key), "\0").startswith(unquoted(value)) if unquoted(key) in event else False
    sign, key = tokens.pop(0), unquoted(tokens.pop(0))
    if sign == ":":
        return key in event
    equal, value = tokens.pop(0), unquoted(tokens.pop(0))
    return (event.get(key) == value) is (equal == "=")


def unquoted(token):
    return json.loads(token) if token[0] == '"' else token
