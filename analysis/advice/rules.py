"""The rules by name: the input of each, its threshold with the reason, and the promised figure.

Law: a rule is a function of the evidence alone and has a result for each of its options, if only the reason why nothing
is to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tamis.analysis.advice import candidates, carrying, engines, forwarding, planned, queues
from tamis.analysis.advice.wording import Advice, Evidence


class Rule(NamedTuple):
    name: str
    looks_at: str
    speaks_from: str
    promises: str
    find: Callable[[Evidence], Iterator[Advice]]


RULES: Final = (
    Rule(
        "strategy",
        "frames between routers, and the links that join a source with the routers that delivered",
        "a tenth of the frames was not needed: network changes cause some with any strategy",
        "frames between routers a message",
        forwarding.trees,
    ),
    Rule(
        "bytes",
        "bytes about filters and bytes of messages between routers, with each strategy",
        "another strategy takes a fifth less",
        "bytes between routers a message",
        carrying.carrying,
    ),
    Rule(
        "engine",
        "match times in the logs, and every engine on the recorded messages and filters",
        "a fifth of the match time and 50 ns: passes differ by a tenth, and a message costs 400 ns in addition",
        "match time a message",
        engines.engine,
    ),
    Rule(
        "rounds",
        "match times of engine sff, with each number of rounds",
        "a fifth of the match time and 50 ns",
        "match time a message",
        engines.rounds,
    ),
    Rule(
        "order",
        "which names messages and filters have",
        "looking for one name first excludes a tenth of all filters",
        "nothing: engines order by themselves",
        planned.order,
    ),
    Rule(
        "reuse",
        "how many filters a message satisfies, and match times after the first router",
        "looking up keys takes a fifth less than matching again",
        "match time after the first router; for experiments",
        planned.reuse,
    ),
    Rule(
        "queues",
        "drops of full queues before they were empty again, and the size of messages",
        "one message was dropped",
        "no drops at the peak of a queue",
        queues.queues,
    ),
    Rule(
        "programs",
        "recorded messages that filters with a residual program match, and those that the programs let pass",
        "1 of 10,000 candidates passes, or fewer, of 10,000 at least",
        "nothing: the filter is its client's",
        candidates.programs,
    ),
)


def advised(evidence: Evidence) -> list[Advice]:
    return [each for rule in RULES for each in rule.find(evidence)]
