"""Random selectors of JMS, most of them with arithmetic, comparisons of attributes and patterns."""

from __future__ import annotations

NAMES = ["a", "b", "c"]
NUMBERS = ["0", "1", "2", "3", "7", "1.5", "0.5", "9007199254740993", "9223372036854775807"]
TEXTS = ["'a'", "'ab'", "'aba'", "''", "'it''s'"]
ORDER = ["<", "<=", ">", ">=", "=", "<>"]
VALUES = [
    0,
    1,
    2,
    3,
    7,
    -1,
    1.5,
    0.5,
    3.5,
    2**53 + 1,
    2**63 - 1,
    1e308,
    "a",
    "ab",
    "aba",
    "bab",
    "",
    "it's",
    True,
    False,
]


def number(random, depth):
    if depth == 0 or random.random() < 0.4:
        return random.choice(NAMES) if random.random() < 0.6 else random.choice(NUMBERS)
    if random.random() < 0.15:
        return f"{random.choice('+-')} {number(random, 0)}"
    written = f"{number(random, depth - 1)} {random.choice('+-*/')} {number(random, depth - 1)}"
    return f"({written})" if random.random() < 0.4 else written


def pattern(random):
    return "".join(random.choice("ab%_") for _ in range(random.randrange(6)))


def condition(random):
    name, negation = random.choice(NAMES), random.choice(["", "NOT "])
    match random.randrange(8):
        case 0:
            return f"{name} {random.choice(['=', '<>'])} {random.choice([*TEXTS, 'TRUE', 'false', *NAMES])}"
        case 1:
            return f"{name} {negation}LIKE '{pattern(random)}'"
        case 2:
            return f"{name} {negation}LIKE '!{random.choice('%_!')}{pattern(random)}' ESCAPE '!'"
        case 3:
            return f"{name} {negation}IN ({random.choice(TEXTS)}, {random.choice(TEXTS)})"
        case 4:
            return f"{name} IS {negation}NULL" if random.random() < 0.6 else name
        case 5:
            return f"{number(random, 1)} {negation}BETWEEN {number(random, 1)} AND {number(random, 1)}"
        case _:
            return f"{number(random, 2)} {random.choice(ORDER)} {number(random, 2)}"


def selector(random, depth):
    if depth == 0 or random.random() < 0.3:
        return condition(random)
    if random.random() < 0.25:
        return f"NOT ({selector(random, depth - 1)})"
    parts = [selector(random, depth - 1) for _ in range(random.randint(2, 3))]
    return f"({random.choice([' AND ', ' OR ']).join(parts)})"


def event(random):
    return {name: random.choice(VALUES) for name in NAMES if random.random() < 0.8}
