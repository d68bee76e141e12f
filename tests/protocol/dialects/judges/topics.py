"""What topic filters of MQTT, NATS and AMQP mean, by their specifications, one level at a time.

Law: shares no code with the translation. An event is a topic, or an object with one and with properties.
"""

from __future__ import annotations

import operator
import re

COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def topic_of(event, name):
    return event if isinstance(event, str) else event[name]


def mqtt(text, event):
    wanted, _, conditions = text.partition("?")
    topic = topic_of(event, "topic")
    if topic[0] == "$" and wanted[0] in "+#":
        return False
    if not mqtt_levels(wanted.split("/"), topic.split("/")):
        return False
    return all(property_holds(each, event) for each in conditions.split("&") if "?" in text)


def mqtt_levels(wanted, topic):
    if wanted == ["#"]:
        return True
    if not wanted or not topic:
        return not wanted and not topic
    return wanted[0] in ("+", topic[0]) and mqtt_levels(wanted[1:], topic[1:])


def property_holds(condition, event):
    name, op, wanted = re.match(r"(.*?)([<>]=?|=)(.*)", condition).groups()
    if isinstance(event, str) or name not in event:
        return False
    value = event[name]
    if op == "=":
        text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else None
        return float(wanted) == value if text is None and is_number(wanted) else text == wanted
    return isinstance(value, int | float) and not isinstance(value, bool) and COMPARE[op](value, float(wanted))


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def nats(text, event):
    return nats_tokens(text.split("."), topic_of(event, "subject").split("."))


def nats_tokens(wanted, subject):
    if not wanted or not subject:
        return not wanted and not subject
    if wanted == [">"]:
        return True
    return wanted[0] in ("*", subject[0]) and nats_tokens(wanted[1:], subject[1:])


def amqp_topic(text, event):
    key = topic_of(event, "key")
    return amqp_words(text.split(".") if text else [], key.split(".") if key else [])


def amqp_words(wanted, key):
    if not wanted:
        return not key
    if wanted[0] == "#":
        return any(amqp_words(wanted[1:], key[skipped:]) for skipped in range(len(key) + 1))
    return bool(key) and wanted[0] in ("*", key[0]) and amqp_words(wanted[1:], key[1:])
