"""A predicate of the rules, whose strings may be `"${name}"`: the full name of the connection that it is asked for.

Law: a rule means what the predicate with the name in place of `${name}` means, for every name. Constraints with it are
expanded apart from those with fixed operands, because a normal form of both would be one of the text `${name}`. Only
`=`, `!=` and `in` take it, so a faster evaluator needs one operand for a connection and no plan of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tamis.protocol import limits
from tamis.protocol.errors import PredicateError, Refused
from tamis.protocol.filters import Constraint, Filter, Op, Predicate
from tamis.protocol.language import in_space
from tamis.protocol.language.compile import compile_tree, read_plainly
from tamis.protocol.language.mistake import SyntaxMistake, refused
from tamis.protocol.language.parse import parse_tree
from tamis.protocol.language.tree import Junction, Leaf, Nested, Node
from tamis.protocol.nearest import nearest
from tamis.protocol.shown import shown
from tamis.protocol.values import Value

NAME: Final = "${name}"
"""The operand that stands for the full name of a connection."""
TENANT: Final = "${tenant}"
_OPENS: Final = "${"
_MARK: Final = "\0"
"""Begins the name of an attribute whose constraint has the operand NAME, while a rule is expanded."""
_SHOWN_MARK: Final = re.compile(rf"(?<![^ (]){re.escape(shown(_MARK))}")
"""The mark at the begin of a name in a sentence."""
_WORD_CHARACTERS_MAX: Final = 64
"""Shown of a word that stands for nothing."""
_TAKES_NAME: Final = frozenset({Op.EQ, Op.NE, Op.IN})


@dataclass(frozen=True, slots=True)
class AccessRule:
    """A predicate in which operands equal to NAME stand for a name. `text` is as written."""

    text: str
    predicate: Predicate

    @property
    def asks_name(self) -> bool:
        """Whether the result depends on the name of the connection."""
        return any(_asks_name(constraint) for filter_ in self.predicate.filters for constraint in filter_.constraints)

    def bound(self, name: str) -> Predicate:
        """Return the predicate for the connection with this name."""
        if not self.asks_name:
            return self.predicate
        return Predicate(tuple(bound_filter(filter_, name) for filter_ in self.predicate.filters))


def bound_filter(filter_: Filter, name: str) -> Filter:
    """Return a filter of a rule for the connection with this name."""
    return Filter(
        tuple(
            Constraint(
                each.name, each.op, tuple(name if value == NAME else value for value in each.operands), each.negated
            )
            if _asks_name(each)
            else each
            for each in filter_.constraints
        )
    )


def _asks_name(constraint: Constraint) -> bool:
    return NAME in constraint.operands


def compile_rule(text: str) -> AccessRule:
    """Return the rule of a text; PredicateError with the place of the mistake if there is none."""
    try:
        prefix = in_space.prefix_of(text)
        if prefix is not None:
            hint = f'write `type = "{prefix.name}" and ...`'
            raise SyntaxMistake(prefix.at, "rules are about attributes, and name no space", hint)
        tree = _apart(parse_tree(text))
        expanded = compile_tree(tree, limits.DISJUNCTS_MAX, _read).predicate
    except SyntaxMistake as mistake:
        mistake.problem = _SHOWN_MARK.sub("", mistake.problem)
        raise refused(PredicateError, text, mistake) from None
    filters = (Filter(tuple(map(_unmarked, filter_.constraints))) for filter_ in expanded.filters)
    return AccessRule(text, Predicate(tuple(filters)))


def check_operand(text: str) -> str:
    """Return `text`, a value in which NAME stands alone or does not occur; otherwise Refused with the reason."""
    if text == NAME or _OPENS not in text:
        return text
    if TENANT in text:
        raise Refused(f"{TENANT} comes later: a network has one tenant in this release")
    if NAME in text:
        raise Refused(f'"{NAME}" stands alone, without text beside it')
    word = shown(text[text.index(_OPENS) :].partition("}")[0][:_WORD_CHARACTERS_MAX] + "}")
    meant = f", did you mean {NAME}?" if nearest(word, (NAME,)) else f"; there is {NAME}"
    raise Refused(f"{word} stands for nothing{meant}")


def _apart(node: Node) -> Node:
    """Return the tree with each list that has NAME as an alternative of NAME and of the other values."""
    match node:
        case Leaf():
            return _checked(node)
        case Nested(child, negates, at):
            return Nested(_apart(child), negates, at)
        case Junction(children, conjunctive, at):
            return Junction(tuple(map(_apart, children)), conjunctive, at)
    return node


def _checked(leaf: Leaf) -> Node:
    constraint = leaf.constraint
    if constraint.name.startswith(_MARK):
        raise SyntaxMistake(leaf.at, "in a rule no attribute begins with the character U+0000")
    for content, at in leaf.operands:
        _check_placed(content, at, constraint.op)
    if constraint.op is not Op.IN or not _asks_name(constraint):
        return leaf
    others = tuple(placed for placed in leaf.operands if placed.content != NAME)
    own = next(placed for placed in leaf.operands if placed.content == NAME)
    leaves = [Leaf(Constraint(constraint.name, Op.EQ, (NAME,)), leaf.at, (own,))]
    if others:
        values = tuple(placed.content for placed in others)
        leaves.append(Leaf(Constraint(constraint.name, Op.IN, values), leaf.at, others))
    return Nested(Junction(tuple(leaves), False, leaf.at), False, leaf.at)


def _check_placed(content: Value, at: int, op: Op) -> None:
    if not isinstance(content, str):
        return
    try:
        check_operand(content)
    except Refused as error:
        raise SyntaxMistake(at, str(error)) from None
    if content == NAME and op not in _TAKES_NAME:
        raise SyntaxMistake(at, f"{op.value} does not take {NAME}; =, != and in do")


def _read(leaf: Leaf) -> Constraint:
    """Return the meaning of a condition; one with NAME is about an attribute of another name, to be expanded apart."""
    plain = read_plainly(leaf)
    if not _asks_name(plain):
        return plain
    try:
        return Constraint(_MARK + plain.name, plain.op, plain.operands, plain.negated)
    except Refused:
        problem = f"a name compared with {NAME} has at most {limits.NAME_BYTES_MAX - len(_MARK)} bytes"
        raise SyntaxMistake(leaf.at, problem) from None


def _unmarked(constraint: Constraint) -> Constraint:
    if not constraint.name.startswith(_MARK):
        return constraint
    return Constraint(constraint.name.removeprefix(_MARK), constraint.op, constraint.operands, constraint.negated)
