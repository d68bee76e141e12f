"""The JSON schema of a topology file, for editors.

    python -m tamis.configs.schema > configs/topology.schema.json

Law: the schema is printed from the models and never edited; a test compares the file with a new print. It validates
single values; only `tamis check` validates conditions between values.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pydantic import BaseModel

from tamis.configs.topology import Topology


def schema(model: type[BaseModel] = Topology) -> dict[str, Any]:
    body = _tidy(model.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


_BOUNDS = {"ge": "minimum", "le": "maximum"}
"""What pydantic calls a bound beside a number with a unit, and a schema calls it."""


def _tidy(node: Any) -> Any:  # noqa: ANN401 - a schema is JSON
    """Return `node` without titles and without null, which models use for an absent key and files must not have, and
    with the names of bounds that schemas have."""
    if isinstance(node, list):
        return [_tidy(item) for item in node if item != {"type": "null"}]
    if not isinstance(node, dict):
        return node
    kept = {_BOUNDS.get(key, key): _tidy(value) for key, value in node.items() if not _is_noise(key, value)}
    return {**kept.pop("anyOf")[0], **kept} if len(kept.get("anyOf", ())) == 1 else kept


def _is_noise(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or value is None


def schema_text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
