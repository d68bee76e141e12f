"""What a binding of a headers exchange means: header by header."""

from __future__ import annotations

import json


def judge(text, event):
    binding = json.loads(text)
    way = binding.pop("x-match", "all")
    wanted = {name: value for name, value in binding.items() if way.endswith("with-x") or name[:2] != "x-"}
    hits = [name in event and (value is None or alike(value, event[name])) for name, value in wanted.items()]
    return all(hits) if way.startswith("all") else any(hits)


def alike(wanted, value):
    return isinstance(wanted, bool) is isinstance(value, bool) and wanted == value
