"""Rules as text for tests: principals whose token is their name, with a word before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping


def token_of(line: str) -> bytes:
    """Return the token of a principal."""
    return f"token of {line}".encode()


def written(roles: Mapping[str, object], principals: Mapping[str, object], **more: object) -> str:
    """Return the text of rules. `principals`: the roles of each."""
    lines = {
        line: {"roles": held, "token": f"sha256:{hashlib.sha256(token_of(line)).hexdigest()}"}
        for line, held in principals.items()
    }
    return json.dumps({"roles": dict(roles), "principals": lines, **more})
