"""Random filters and events of each dialect, small enough that they often meet."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tests.protocol.dialects import json_strategies as patterns
from tests.protocol.dialects import tamis_strategies as language

LEVEL = st.sampled_from(["a", "b", "ab", ""])
WORD = st.sampled_from(["a", "b", "ab", "$a"])


def joined(parts, separator, sizes=(1, 10)):
    return st.lists(parts, min_size=sizes[0], max_size=sizes[1]).map(separator.join)


def short_or_long(parts, separator):
    return joined(parts, separator, (1, 4)) | joined(parts, separator)


VALUE = st.sampled_from(["x", "25", "true", 25, 26, 0.5, True])


@st.composite
def mqtt_filters(draw):
    levels = draw(
        st.lists(st.sampled_from(["a", "b", "ab", "", "+", "+"]), min_size=1, max_size=draw(st.integers(1, 10)))
    )
    text = "/".join([*levels, *(["#"] if draw(st.booleans()) else [])]) or "#"
    condition = st.sampled_from(["n>25", "n<=25.5", "n=25", "k=x", "k=true", "k=25", "n=x", "n>=25"])
    return "?".join(
        [text, *(["&".join(draw(st.lists(condition, min_size=1, max_size=3)))] if draw(st.booleans()) else [])]
    )


def with_properties(name, topics):
    return topics | st.fixed_dictionaries({name: topics}, optional={"n": VALUE, "k": VALUE})


NATS_TOKEN = st.sampled_from(["a", "b", "a*", "*", "*"])
NATS_FILTER = st.tuples(short_or_long(NATS_TOKEN, "."), st.sampled_from(["", ".>"])).map("".join) | st.just(">")


def sql(form, *parts):
    return st.builds(form.format, *parts)


# --- CloudEvents ------------------------------------------------------------------------------------------------------

CE_NAMES = st.sampled_from(["type", "source", "n"])
CE_TEXTS = st.sampled_from(["a", "ab", "aba", "b", "ba", "5", "-5", "50", "05", "0", "-", "-1", "true", "t", "e", "1"])
CE_CONDITIONS = st.dictionaries(CE_NAMES, CE_TEXTS, min_size=1, max_size=3)
CE_LEAVES = st.builds(
    lambda dialect, form: {dialect: form}, st.sampled_from(["exact", "prefix", "suffix"]), CE_CONDITIONS
)


def ce_joined(children):
    several = st.lists(children, min_size=1, max_size=4)
    joined = st.builds(lambda dialect, parts: {dialect: parts}, st.sampled_from(["all", "any"]), several)
    return joined | children.map(lambda child: {"not": child})


CE_FORMS = st.recursive(CE_LEAVES, ce_joined, max_leaves=12)
CE_FILTERS = (CE_FORMS | st.lists(CE_FORMS, max_size=3)).map(json.dumps)
CE_VALUES = CE_TEXTS | st.sampled_from([0, 1, 5, -5, 50, 57, 105, -51, -1, 10, 2**31 - 1, -(2**31), True, False])
CE_EVENTS = st.dictionaries(CE_NAMES, CE_VALUES, max_size=3)

# --- CESQL ------------------------------------------------------------------------------------------------------------

CESQL_NAMES = st.sampled_from(["a", "b", "c", "type"])
CESQL_TEXTS = st.sampled_from(
    [
        "'a'",
        '"ab"',
        "'aba'",
        "''",
        "'5'",
        "'+05'",
        "'-1'",
        "'true'",
        "'FALSE'",
        "'it\\'s'",
        "'0'",
        "'1'",
        "'a%'",
        "'\\a'",
    ]
)
CESQL_INTEGERS = st.sampled_from(["0", "1", "2", "5", "-1", "10", "2147483647", "-2147483648", "+3"])
CESQL_ATOMS = st.one_of(
    CESQL_NAMES, CESQL_NAMES, CESQL_NAMES, CESQL_TEXTS, CESQL_INTEGERS, st.sampled_from(["TRUE", "false"])
)
CESQL_PATTERNS = st.text("ab5-t%_\\", max_size=5).map(lambda text: f"'{text}'").filter(lambda text: text[-2] != "\\")
CESQL_ORDER = st.sampled_from(["<", "<=", ">", ">="])
CESQL_EQUAL = st.sampled_from(["=", "!=", "<>"])
CESQL_NEGATED = st.sampled_from(["", "NOT "])
CESQL_OF_ONE = st.sampled_from(
    "LENGTH lower UPPER TRIM ABS INT BOOL STRING IS_INT IS_BOOL CONCAT CONCAT_WS".split()  # noqa: SIM905
)
CESQL_OF_TWO = st.sampled_from(["LEFT", "right", "SUBSTRING", "concat", "CONCAT_WS"])
CESQL_OF_THREE = st.sampled_from(["SUBSTRING", "CONCAT", "CONCAT_WS"])


def cesql_values(children):
    inside = children.map("({})".format)
    return st.one_of(
        sql("{} {} {}", inside, st.sampled_from(["+", "-", "*", "/", "%"]), inside),
        sql("{} {} {}", CESQL_NAMES, st.sampled_from(["+", "-", "*", "/", "%"]), children),
        sql("-{}", inside),
        sql("{}({})", CESQL_OF_ONE, children),
        sql("{}({}, {})", CESQL_OF_TWO, children, children),
        sql("{}({}, {}, {})", CESQL_OF_THREE, CESQL_NAMES, children, children),
    )


CESQL_WORTH = CESQL_ATOMS | st.recursive(CESQL_ATOMS, cesql_values, max_leaves=4)
CESQL_TESTS = st.one_of(
    sql("{} {} {}", CESQL_NAMES, CESQL_EQUAL, CESQL_TEXTS | CESQL_INTEGERS),
    sql("{} {} {}", CESQL_WORTH, CESQL_EQUAL, CESQL_WORTH),
    sql("{} {} {}", CESQL_NAMES, CESQL_ORDER, CESQL_INTEGERS),
    sql("{} {} {}", CESQL_WORTH, CESQL_ORDER, CESQL_WORTH),
    sql("{} {}LIKE {}", CESQL_NAMES, CESQL_NEGATED, CESQL_PATTERNS),
    sql("{} {}LIKE {}", CESQL_WORTH.map("({})".format), CESQL_NEGATED, CESQL_PATTERNS),
    sql("{} {}IN ({}, {})", CESQL_NAMES, CESQL_NEGATED, CESQL_TEXTS, CESQL_ATOMS),
    sql("{} {}IN ({}, {}, {})", CESQL_ATOMS, CESQL_NEGATED, CESQL_WORTH, CESQL_ATOMS, CESQL_ATOMS),
    sql("EXISTS {}", CESQL_NAMES),
    CESQL_NAMES,
)


def cesql_joined(children):
    words = st.sampled_from([" AND ", " or ", " XOR ", " OR "])
    return st.one_of(
        st.tuples(children, words, children, words, children).map("".join),
        st.tuples(children, words, children).map("".join),
        sql("({})", children),
        sql("{}({})", st.sampled_from(["NOT ", "not not "]), children),
        sql("({}) {} ({})", children, CESQL_EQUAL, children),
        sql("({}) {} {}", children, CESQL_EQUAL, CESQL_ATOMS),
        sql("({}) LIKE {}", children, CESQL_PATTERNS),
    )


CESQL_FILTERS = st.recursive(CESQL_TESTS, cesql_joined, max_leaves=8)
CESQL_VALUES = st.one_of(
    st.sampled_from("a ab aba aa 5 +05 -1 true TRUE False it's a% \\a 1 0 2 b 2147483648 É".split()),  # noqa: SIM905
    st.sampled_from(["", " a ", "\u2003a"]),
    st.sampled_from([0, 1, 2, 5, -1, 3, 10, 55, -15, 2**31 - 1, -(2**31), True, False]),
)
CESQL_EVENTS = st.fixed_dictionaries({"type": CESQL_VALUES}, optional=dict.fromkeys("abc", CESQL_VALUES))

# --- JMS --------------------------------------------------------------------------------------------------------------

SQL_NAMES = st.sampled_from(["a", "b", "c"])
SQL_NUMBERS = st.sampled_from(["0", "1", "2", "1.5", "-1", "1 + 1", "2 * (3 - 1)", "7 / 2"])
SQL_TEXTS = st.sampled_from(["'a'", "'ab'", "'aba'", "''", "'it''s'"])
SQL_PATTERNS = st.text("ab%_", max_size=5).map(lambda text: f"'{text}'")
SQL_ORDER = st.sampled_from(["<", "<=", ">", ">="])
SQL_EQUAL = st.sampled_from(["=", "<>"])
SQL_NOT = st.sampled_from(["", "NOT "])


SQL_TESTS = st.one_of(
    sql("{} {} {}", SQL_NAMES, SQL_ORDER | SQL_EQUAL, SQL_NUMBERS),
    sql("{} {} {}", SQL_NUMBERS, SQL_ORDER | SQL_EQUAL, SQL_NAMES),
    sql("{} {} {}", SQL_NAMES, SQL_EQUAL, SQL_TEXTS | st.sampled_from(["TRUE", "false"])),
    sql("{} {}BETWEEN {} AND {}", SQL_NAMES, SQL_NOT, SQL_NUMBERS, SQL_NUMBERS),
    sql("{} {}IN ({}, {})", SQL_NAMES, SQL_NOT, SQL_TEXTS, SQL_TEXTS),
    sql("{} {}LIKE {}", SQL_NAMES, SQL_NOT, SQL_PATTERNS),
    sql("{} {}LIKE {} ESCAPE '!'", SQL_NAMES, SQL_NOT, st.sampled_from(["'!%'", "'a!_%'", "'!!%a'", "'%!%'"])),
    sql("{} IS {}NULL", SQL_NAMES, SQL_NOT),
    sql("{} {} {}", SQL_NAMES, SQL_ORDER | SQL_EQUAL, SQL_NAMES),
    sql("{} * {} {} {}", SQL_NAMES, SQL_NAMES, SQL_ORDER, SQL_NUMBERS),
    SQL_NAMES,
)


def sql_joined(children):
    joined = st.lists(children, min_size=2, max_size=4)
    return joined.map(" AND ".join) | joined.map(" OR ".join) | sql("NOT ({})", children) | sql("({})", children)


JMS_VALUES = st.sampled_from(
    [0, 1, 2, 1.5, -1, 3, 4, "a", "ab", "aba", "aa", "", "%", "a_", "!", "it's", True, False, None]
)
JMS_EVENTS = st.dictionaries(SQL_NAMES, JMS_VALUES, max_size=3)
AMQP_EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "b": JMS_VALUES,
        "c": JMS_VALUES,
        "properties": st.dictionaries(st.just("to"), JMS_VALUES),
        "header": st.dictionaries(st.just("priority"), st.sampled_from([None, 0, 4, 9])),
        "properties.to": JMS_VALUES,
    },
).filter(lambda event: not {"properties", "properties.to"} <= set(event))

# --- SQL of AMQP ------------------------------------------------------------------------------------------------------

AMQP_NAMES = st.sampled_from(["a.b", "b", "c", "[b]", "p.to", "properties.to", "h.priority"])
AMQP_NUMBERS = st.sampled_from(["0", "1", "2.5", "4", "-1", "2 * (3 - 1)", "7 / 2", "7 % 4", "1.5E1"])
AMQP_CONSTANTS = AMQP_NUMBERS | SQL_TEXTS | st.sampled_from(['"a"', "TRUE", "FALSE"])
AMQP_COMPARE = SQL_ORDER | SQL_EQUAL | st.just("!=")
AMQP_TESTS = st.one_of(
    sql("{} {} {}", AMQP_NAMES, AMQP_COMPARE, AMQP_CONSTANTS),
    sql("{} {} {}", AMQP_CONSTANTS, AMQP_COMPARE, AMQP_NAMES),
    sql("{} {} {}", AMQP_CONSTANTS, AMQP_COMPARE, AMQP_CONSTANTS),
    sql("{} {}IN ({}, {})", AMQP_NAMES, SQL_NOT, AMQP_CONSTANTS, AMQP_CONSTANTS),
    sql("{} {}LIKE {}", AMQP_NAMES, SQL_NOT, SQL_PATTERNS),
    sql("{} {}LIKE {} ESCAPE '!'", AMQP_NAMES, SQL_NOT, st.sampled_from(["'!%'", "'!a!_%'", "'!!%a'", "'%!%'"])),
    sql("{} IS {}NULL", AMQP_NAMES, SQL_NOT),
    sql("{}EXISTS({})", SQL_NOT, AMQP_NAMES),
    sql("{} {} {}", AMQP_NAMES, AMQP_COMPARE, AMQP_NAMES),
    sql("{} {} {} {} {}", AMQP_NAMES, st.sampled_from("+-*/%"), AMQP_NAMES, AMQP_COMPARE, AMQP_CONSTANTS),
    sql("{}{} {} {}", st.sampled_from("+-"), AMQP_NAMES, AMQP_COMPARE, AMQP_CONSTANTS),
    AMQP_NAMES,
)

# --- SQL of Azure -----------------------------------------------------------------------------------------------------

AZURE_NAMES = st.sampled_from(["a", "user.B", "[c]", '"C"', "sys.To", "p('a')", "SYS.[to]"])
AZURE_CONSTANTS = AMQP_NUMBERS | SQL_TEXTS | st.sampled_from(["True", "FALSE"])
AZURE_TESTS = st.one_of(
    sql("{} {} {}", AZURE_NAMES, AMQP_COMPARE, AMQP_NUMBERS),
    sql("{} {} {}", AMQP_NUMBERS, AMQP_COMPARE, AZURE_NAMES),
    sql("{} {} {}", AZURE_NAMES, SQL_EQUAL, AZURE_CONSTANTS),
    sql("{} {} {}", AZURE_CONSTANTS, SQL_EQUAL, AZURE_CONSTANTS),
    sql("{} {}IN ({}, {})", AZURE_NAMES, SQL_NOT, AZURE_CONSTANTS, AZURE_CONSTANTS),
    sql("{} {}IN ({}, {}, {})", AZURE_NAMES, SQL_NOT, AZURE_CONSTANTS, AZURE_NAMES, AZURE_CONSTANTS),
    sql("{} {}LIKE {}", AZURE_NAMES, SQL_NOT, SQL_PATTERNS),
    sql("{} {}LIKE {} ESCAPE '!'", AZURE_NAMES, SQL_NOT, st.sampled_from(["'!%'", "'a!_%'", "'!!%a'", "'%!%'"])),
    sql("{} IS {}NULL", AZURE_NAMES, SQL_NOT),
    sql("{}EXISTS({})", SQL_NOT, AZURE_NAMES.filter(lambda name: name[0] != "p")),
    sql("{} {} {}", AZURE_NAMES, AMQP_COMPARE, AZURE_NAMES),
    sql("{} {} {} {} {}", AZURE_NAMES, st.sampled_from("+-*/%"), AZURE_NAMES, AMQP_COMPARE, AMQP_NUMBERS),
)
AZURE_FORMS = st.fixed_dictionaries(
    {"properties": st.dictionaries(SQL_NAMES, st.sampled_from([0, 1, 1.5, "a", "ab", True]), max_size=2)},
    optional={"to": st.sampled_from(["a", "ab"]), "Label": st.just("a")},
)
AZURE_EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "A": JMS_VALUES,
        "b": JMS_VALUES,
        "user": st.dictionaries(st.just("c"), JMS_VALUES),
        "sys": st.dictionaries(st.sampled_from(["To", "Label"]), JMS_VALUES),
    },
)

# --- headers exchange -------------------------------------------------------------------------------------------------

HEADERS = st.sampled_from(["a", "b", "c", "x-a", "x-b"])
HEADER_VALUES = st.sampled_from([1, 2, 1.5, "1", "a", "", True, False, None])
BINDINGS = st.builds(
    lambda headers, way: headers | way,
    st.dictionaries(HEADERS, HEADER_VALUES, max_size=5),
    st.sampled_from([{}, *({"x-match": way} for way in ("all", "any", "all-with-x", "any-with-x"))]),
)
HEADER_EVENTS = st.dictionaries(HEADERS, HEADER_VALUES | st.sampled_from([[], [1], [{"b": 1}]]), max_size=5)

# --- Pub/Sub ----------------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", '"c d"'])
KEY_TEXTS = st.sampled_from(["", "a", "ab", 'a"b'])
PUBSUB_TESTS = st.one_of(
    sql("attributes:{}", KEYS),
    sql("attributes.{} {} {}", KEYS, st.sampled_from(["=", "!="]), KEY_TEXTS.map(json.dumps)),
    sql("hasPrefix(attributes.{}, {})", KEYS, KEY_TEXTS.map(json.dumps)),
)


def pubsub_joined(children):
    parts = children.map("({})".format) | PUBSUB_TESTS
    joined = st.lists(parts, min_size=2, max_size=4)
    return joined.map(" AND ".join) | joined.map(" OR ".join) | sql("{}{}", st.sampled_from(["NOT ", "-"]), parts)


PUBSUB_EVENTS = st.dictionaries(st.sampled_from(["a", "b", "c d"]), KEY_TEXTS, max_size=3)

# --- CEL --------------------------------------------------------------------------------------------------------------

CEL_NAMES = st.sampled_from(["a", "b", "c", "m.x", 'm["x"]', "m.y"])
CEL_TEXTS = st.sampled_from(["'a'", '"ab"', "''", "r'a'", "'\\x61b'"])
CEL_INTEGERS = st.sampled_from(["0", "1", "2", "3", "-1", "0x2", "2u", "9223372036854775807"])
CEL_DOUBLES = st.sampled_from(["0.0", "1.0", "2.0", "1.5", "2.5e0", "-1.0"])
CEL_ORDER = st.sampled_from(["<", "<=", ">", ">="])
CEL_EQUAL = st.sampled_from(["==", "!="])
CEL_SIGNS = st.sampled_from(["+", "-", "*", "/"])
CEL_METHODS = st.sampled_from(["startsWith", "endsWith", "contains"])
CEL_CONSTANTS = CEL_TEXTS | CEL_INTEGERS | CEL_DOUBLES
CEL_SUMS = st.one_of(
    sql("{} {} {}", CEL_NAMES, CEL_SIGNS | st.just("%"), CEL_NAMES),
    sql("{} {} {}", CEL_NAMES, CEL_SIGNS | st.just("%"), st.sampled_from(["1", "2", "3"])),
    sql("{} {} {}", CEL_DOUBLES, CEL_SIGNS, CEL_NAMES),
    sql("({} {} {}) {} {}", CEL_NAMES, CEL_SIGNS, CEL_NAMES, CEL_SIGNS, st.sampled_from(["2", "2.0", "c"])),
    sql("{} + {}", CEL_TEXTS, CEL_NAMES),
    sql("{} + ({} + {})", CEL_TEXTS, CEL_NAMES, CEL_NAMES),
    sql("size({})", CEL_NAMES),
    sql("-{}", CEL_NAMES),
    sql("({} ? {} : {})", CEL_NAMES, CEL_NAMES, CEL_CONSTANTS),
)
CEL_TESTS = st.one_of(
    sql("{} {} {}", CEL_NAMES, CEL_ORDER | CEL_EQUAL, CEL_CONSTANTS),
    sql("{} {} {}", CEL_CONSTANTS, CEL_ORDER | CEL_EQUAL, CEL_NAMES),
    sql("{} {} {}", CEL_CONSTANTS, CEL_ORDER | CEL_EQUAL, CEL_CONSTANTS),
    sql("{} {} {}", CEL_NAMES, CEL_EQUAL, st.sampled_from(["true", "false", "null"])),
    sql("{} in [{}, {}]", CEL_NAMES, CEL_CONSTANTS, CEL_CONSTANTS | st.just("true")),
    sql("{}.{}({})", CEL_NAMES, CEL_METHODS, CEL_TEXTS | CEL_NAMES),
    sql("{}.{}({})", CEL_TEXTS, CEL_METHODS, CEL_NAMES),
    sql("has({})", CEL_NAMES | st.just("m")),
    sql("{} {} {}", CEL_NAMES, CEL_ORDER | CEL_EQUAL, CEL_NAMES),
    sql("{} {} {}", CEL_SUMS, CEL_ORDER | CEL_EQUAL, CEL_INTEGERS | CEL_DOUBLES | CEL_NAMES),
    sql("{} {} {}", CEL_SUMS, CEL_EQUAL, CEL_CONSTANTS),
    sql("{} in [{}, {}]", CEL_SUMS, CEL_CONSTANTS, CEL_CONSTANTS),
    CEL_NAMES,
)


def cel_joined(children):
    inside = children.map("({})".format)
    joined = st.lists(inside, min_size=2, max_size=3)
    return joined.map(" && ".join) | joined.map(" || ".join) | sql("!{}", inside) | sql("{} ? {} : {}", *[inside] * 3)


CEL_VALUES = st.sampled_from(
    [0, 1, 2, 3, -1, 1.5, 2.5, 0.5, 2**53 + 1, 2**63 - 1, -(2**63), 1e308, "a", "ab", "aba", "", "é", True, False, None]
) | st.sampled_from([[], [1, "a"], {}, {"z": 1}])
CEL_EVENTS = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys("abc", CEL_VALUES), "m": st.dictionaries(st.sampled_from("xy"), CEL_VALUES)}
)

FILTERS = {
    "tamis": language.PREDICATES,
    "sns": patterns.SNS_FILTERS,
    "eventbridge": patterns.EVENTBRIDGE_FILTERS,
    "cel": st.recursive(CEL_TESTS, cel_joined, max_leaves=8),
    "pubsub": st.recursive(PUBSUB_TESTS, pubsub_joined, max_leaves=10),
    "amqp-headers": BINDINGS.map(json.dumps),
    "jms": st.recursive(SQL_TESTS, sql_joined, max_leaves=10),
    "amqp-sql": st.recursive(AMQP_TESTS, sql_joined, max_leaves=10),
    "azure": st.recursive(AZURE_TESTS, sql_joined, max_leaves=10) | AZURE_FORMS.map(json.dumps),
    "cloudevents": CE_FILTERS,
    "cesql": CESQL_FILTERS,
    "mqtt": mqtt_filters(),
    "nats": NATS_FILTER,
    "amqp-topic": short_or_long(st.sampled_from(["a", "b", "*", "#"]), ".") | st.just(""),
}
EVENTS = {
    "tamis": language.MESSAGES,
    "sns": patterns.SNS_EVENTS,
    "eventbridge": patterns.EVENTBRIDGE_EVENTS,
    "cel": CEL_EVENTS,
    "pubsub": PUBSUB_EVENTS,
    "amqp-headers": HEADER_EVENTS,
    "jms": JMS_EVENTS,
    "amqp-sql": AMQP_EVENTS,
    "azure": AZURE_EVENTS,
    "cloudevents": CE_EVENTS,
    "cesql": CESQL_EVENTS,
    "mqtt": with_properties("topic", short_or_long(st.sampled_from(["a", "b", "ab", "", "$a"]), "/").filter(bool)),
    "nats": with_properties("subject", short_or_long(st.sampled_from(["a", "b", "a*"]), ".")),
    "amqp-topic": with_properties("key", short_or_long(st.sampled_from(["a", "b", ""]), ".") | st.just("")),
}
