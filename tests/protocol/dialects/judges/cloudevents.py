"""What a filter of the CloudEvents Subscriptions API means, by its specification."""

from __future__ import annotations

import json


def judge(text, event):
    form = json.loads(text)
    return all(passes(each, event) for each in form) if isinstance(form, list) else passes(form, event)


def passes(form, event):
    [(dialect, inside)] = form.items()
    if dialect == "all":
        return all(passes(each, event) for each in inside)
    if dialect == "any":
        return any(passes(each, event) for each in inside)
    if dialect == "not":
        return not passes(inside, event)
    test = {"exact": str.__eq__, "prefix": str.startswith, "suffix": str.endswith}[dialect]
    return all(name in event and test(canonical(event[name]), wanted) for name, wanted in inside.items())


def canonical(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
