"""Changes values of a topology file and leaves every other byte of it unchanged.

Law: comments, order, quotes and alignment stay. (Libraries that rewrite YAML preserve comments, but not columns.) A
change is made in the text, at the positions that the parser reports. The text must be a valid topology file, which has
no anchors and tags.
"""

from __future__ import annotations

from collections.abc import Mapping

import yaml

Path = tuple[str, ...]
Value = str | int | list[str] | Mapping[str, "Value"]


def edited(text: str, changes: Mapping[Path, Value | None]) -> str:
    """Return `text` with each value set at its path of keys; None removes the key. Missing sections are added, and a
    name that stands for a section (`engine: sff`) becomes a section if another key of it is set."""
    for path, value in changes.items():
        text = _edited(text, path, value)
    return text


def _edited(text: str, path: Path, value: Value | None) -> str:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for depth, step in enumerate(path):
        if isinstance(node, yaml.ScalarNode):
            return text if value is None else _replaced(text, node, _unfolded(node.value, path[depth:], value))
        assert isinstance(node, yaml.MappingNode)  # noqa: S101 - the file is valid, and so is the path
        found = next((pair for pair in node.value if pair[0].value == step), None)
        if found is None:
            return text if value is None else _with_key(text, node, step, _nested(path[depth + 1 :], value))
        if depth == len(path) - 1:
            return _without(text, node, found) if value is None else _replaced(text, found[1], value)
        node = found[1]
    raise ValueError("a change of the whole file is none")


def _unfolded(name: str, steps: Path, value: Value) -> Value:
    return value if steps == ("name",) else {"name": name, steps[0]: _nested(steps[1:], value)}


def _nested(steps: Path, value: Value) -> Value:
    for step in reversed(steps):
        value = {step: value}
    return value


def _written(value: Value) -> str:
    """Return `value` as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=float("inf"))
    return text.removesuffix("...\n").strip()


def _replaced(text: str, node: yaml.Node, value: Value) -> str:
    return text[: node.start_mark.index] + _written(value) + text[_end(text, node) :]


def _end(text: str, node: yaml.Node) -> int:
    """Return the index after the last character of a node. The parser's own end of a block is the begin of the next
    one, after comments and blank lines that do not belong to it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    return len(text[: node.end_mark.index].rstrip())


def _with_key(text: str, mapping: yaml.MappingNode, key: str, value: Value) -> str:
    """Return `text` with `key` added to `mapping`: in braces at the end, otherwise on a line of its own before the
    first key, since a comment after the last key may belong to the next section."""
    entry = _written({key: value})[1:-1]
    if mapping.flow_style:
        end = mapping.end_mark.index - 1
        kept = text[:end].rstrip()
        return kept + (", " if mapping.value and not kept.endswith(",") else "") + entry + text[end:]
    start = mapping.value[0][0].start_mark
    return f"{text[: start.index]}{entry}\n{' ' * start.column}{text[start.index :]}"


def _without(text: str, mapping: yaml.MappingNode, pair: tuple[yaml.Node, yaml.Node]) -> str:
    """Return `text` without `pair`: in braces also without a comma beside it, otherwise without its whole lines."""
    start, end = pair[0].start_mark.index, pair[1].end_mark.index
    if not mapping.flow_style:
        return text[: text.rfind("\n", 0, start) + 1] + text[end - 1 :].partition("\n")[2]
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if before.endswith(","):
        return before.removesuffix(",") + text[end:]
    return before + after.removeprefix(",").lstrip()
