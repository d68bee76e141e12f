"""What an event pattern of EventBridge and a filter policy of SNS mean: values with their places in arrays, tried one
after the other."""

from __future__ import annotations

import ipaddress
import itertools
import json
import re


def eventbridge(text, event):
    values = list(values_of(event, "", {}, itertools.count()))
    return any(fits(fields, values, {}) for fields in alternatives(json.loads(text), ""))


def sns(text, event):
    policy = json.loads(text)
    scope = policy.get("FilterPolicyScope", "MessageAttributes") if "FilterPolicy" in policy else "MessageAttributes"
    policy = policy.get("FilterPolicy", policy)
    if policy == {}:
        return True
    document = body_of(event) if scope == "MessageBody" else attributes_of(event)
    return isinstance(document, dict) and document != {} and eventbridge(json.dumps(policy), document)


def body_of(event):
    try:
        return json.loads(event["Message"]) if isinstance(event.get("Message"), str) else event.get("Message")
    except ValueError:
        return None


def attributes_of(event):
    if "Message" in event or "MessageAttributes" in event:
        event = event.get("MessageAttributes", {})
    elif not all(isinstance(value, dict) and {"Type", "DataType"} & set(value) for value in event.values()):
        return event
    found = {}
    for name, attribute in event.items():
        kind, value = (
            attribute.get("Type", attribute.get("DataType")),
            attribute.get("Value", attribute.get("StringValue")),
        )
        if kind != "Binary":
            found[name] = json.loads(value) if kind != "String" and isinstance(value, str) else value
    return found


def values_of(value, path, places, numbers):
    """Yield each value with its path, and the element that it is in of every array around it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from values_of(inner, f"{path}.{name}" if path else name, places, numbers)
    elif isinstance(value, list):
        array = next(numbers)
        for at, inner in enumerate(value):
            yield from values_of(inner, path, {**places, array: at}, numbers)
    else:
        yield path, value, places


def alternatives(pattern, path):
    """Return the lists of fields of which one must fit."""
    found = [[]]
    for name, inside in pattern.items():
        if name == "$or":
            several = [fields for each in inside for fields in alternatives(each, path)]
        elif isinstance(inside, dict):
            several = alternatives(inside, f"{path}.{name}" if path else name)
        else:
            several = [[(f"{path}.{name}" if path else name, inside)]]
        found = [one + other for one in found for other in several]
    return found


def fits(fields, values, places):
    if not fields:
        return True
    (path, conditions), *rest = fields
    mine = [each for each in values if each[0] == path]
    if not mine and {"exists": False} in conditions and fits(rest, values, places):
        return True
    for _, value, where in mine:
        agrees = all(places.get(array, at) == at for array, at in where.items())
        if agrees and any(satisfies(value, each) for each in conditions) and fits(rest, values, {**places, **where}):
            return True
    return False


def satisfies(value, condition):
    if not isinstance(condition, dict):
        return same(value, condition)
    [(operator, operand)] = condition.items()
    if operator == "anything-but":
        if isinstance(operand, dict):
            [(inner, texts)] = operand.items()
            return not any(satisfies(value, {inner: each}) for each in listed(texts))
        return not any(same(value, each) for each in listed(operand))
    if operator == "exists":
        return operand
    if operator == "numeric":
        return is_number(value) and all(
            {"=": value == to, "<": value < to, "<=": value <= to, ">": value > to, ">=": value >= to}[sign]
            for sign, to in zip(operand[::2], operand[1::2], strict=True)
        )
    return isinstance(value, str) and of_texts(operator, operand, value)


def of_texts(operator, operand, value):
    if isinstance(operand, dict):
        operand, value = operand["equals-ignore-case"].lower(), value.lower()
    match operator:
        case "prefix":
            return value[: len(operand)] == operand
        case "suffix":
            return value[max(0, len(value) - len(operand)) :] == operand
        case "equals-ignore-case":
            return value.lower() == operand.lower()
        case "wildcard":
            parts = re.findall(r"\\.|[^\\]", operand, re.DOTALL)
            expression = "".join(".*" if part == "*" else re.escape(part[-1]) for part in parts)
            return re.fullmatch(expression, value, re.DOTALL) is not None
        case "cidr":
            try:
                address, network = ipaddress.ip_address(value), ipaddress.ip_network(operand, strict=False)
            except ValueError:
                return False
            return address in network
    raise AssertionError(operator)


def listed(operand):
    return operand if isinstance(operand, list) else [operand]


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(value, wanted):
    if is_number(value) and is_number(wanted):
        return value == wanted
    return type(value) is type(wanted) and value == wanted
