"""The reference page of access rules.

    python -m tamis.configs.access.reference > docs/reference/access.md

Law: as that of the topology file: keys, defaults, bounds and choices are printed from the models, and a test compares
the page with a new print.
"""

from __future__ import annotations

import inspect
import sys

from tamis.configs.access import principals_file
from tamis.configs.access.roles import STAMPS_MAX
from tamis.configs.access.section import ROLES_MAX, TESTS_MAX, AccessSection
from tamis.configs.access.values import PATTERNS_MAX
from tamis.configs.choices import PLANNED_ACCESS_KEYS
from tamis.configs.reference import section
from tamis.configs.schema import schema
from tamis.protocol.access.principals import CLASSES_MAX, DIGESTS_MAX, PRINCIPALS_MAX, ROLES_PER_PRINCIPAL_MAX

_TITLES = {
    "RoleConfig": "`roles.NAME`",
    "PermissionConfig": "`allow and deny`",
    "RateConfig": "`rate`",
    "DurableConfig": "`durable`",
    "ConsumeConfig": "`consume`",
    "QuotaConfig": "`quotas and totals`",
    "PrincipalConfig": "`principals.NAME`",
    "IssuerConfig": "`issuers.NAME`",
    "RuleTest": "`tests`",
}
_INTRO = """\
# Access rules

Who may do what: [the model](../access.md). Printed from the models by `python -m tamis.configs.access.reference`; do
not edit. Routers enforce them [where a topology file has `access`](../access.md#in-a-network).

The rules stand under `access` in a [topology file](topology.md), or in a file of their own, which `access` names by its
path. Such a file, and a file of principals, has mode 0640 or tighter. `tamis access check FILE` validates either one,
runs its tests, and lists every mistake at once:

    rules.yaml:6:44: roles.dash.subscribe.deny: is no predicate: column 8: expected a value, but the text ends here
    rules.yaml:9:23: principals.press-1.roles: no role is called "sensro", did you mean sensor?

## Keys
"""
_FORMS = f"""\
## Forms

*Predicate*: as in [the language](language.md); it names no space. The string `"${{name}}"` stands for the full name of
the client (`fleet/device-17`); `=`, `!=` and `in` take it.

*Pattern*: a name, or the beginning of names and a star (`orders-*`); `${{name}}` stands for the name of the client.

*Role*: 1 to 64 letters, digits, `.`, `_` and `-`, beginning with a letter, digit or `_`.

*Value, message*: as behind `tamis pub`: `3` is a number, `true` a boolean, `"3"` in quotes a string. A message is a
mapping, or text such as `kind=reading plant=rome`.

*Digest*: `sha256:` and 64 hexadecimal digits, as `tamis token new NAME` prints it.

Sizes and times are those of [the topology file](topology.md#forms).

## A file of principals

{{principals}}
A name or role has no blank; a name with a star, of certificates, stands under `principals`.

## Limits

| what | most |
|---|---|
| roles | {ROLES_MAX:,} |
| roles of one principal | {ROLES_PER_PRINCIPAL_MAX} |
| different sets of roles that principals have | {CLASSES_MAX:,} |
| principals with tokens in a file of principals | {PRINCIPALS_MAX:,} |
| tokens of one principal | {DIGESTS_MAX} |
| patterns in one list | {PATTERNS_MAX} |
| attributes that a role stamps | {STAMPS_MAX} |
| tests | {TESTS_MAX:,} |

A file of rules has the limits of a topology file; further principals go into a file of their own.

## Comes later

These keys are refused until a release implements them.
"""


def page() -> str:
    whole = schema(AccessSection)
    parts = [_INTRO, section("The section", whole, _TITLES)]
    parts += [section(title, whole["$defs"][name], _TITLES) for name, title in _TITLES.items()]
    example = inspect.getdoc(principals_file) or ""
    first, lines, _ = example.split("\n\n", 2)
    parts.append(_FORMS.replace("{principals}", f"{first.partition(': ')[2].capitalize()}\n\n{lines}\n"))
    rows = [f"| `{key}` | {purpose} |" for key, purpose in PLANNED_ACCESS_KEYS.items()]
    return "\n".join([*parts, "\n".join(["| key | planned meaning |", "|---|---|", *rows]), ""])


if __name__ == "__main__":
    sys.stdout.write(page())
