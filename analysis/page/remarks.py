"""The sentences at the top of a report: the faults of the network, and of its logs.

Law: each sentence is true of the tables it was made from and has a number; questions that were not answered have no
sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tamis.analysis.durable.fate import CUSTODY_VERDICTS, DURABLE_FAULTS

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
WHYS_MAX: Final = 6
"""Reasons, places or clients that one sentence names."""
_WRONG: Final = {
    "missing": "are missing",
    "dropped": "were dropped, as the counters of a router show",
    "duplicate": "were delivered more than once",
    "stray": "were delivered without a matching subscription",
    "undecided": "cannot be decided",
}
_FATES: Final = {
    "acked": "acknowledged",
    "dead": "moved to dead letters",
    "replaced": "replaced by later values",
    "forgotten": "removed with their subscription",
}
BEHIND_US: Final = 60_000_000
"""If a log ends this long before the others, its router never came back."""


def remarks(tables: Tables) -> list[str]:
    return [*_deliveries(tables), *_stored(tables), *_access(tables), *_changes(tables), *_logs(tables)]


def _deliveries(tables: Tables) -> Iterator[str]:
    if "delivery/counts" not in tables:
        return
    counts: dict[str, int] = {}
    for row in tables["delivery/counts"]:
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + row["deliveries"]
    faults = {each: counts.get(each, 0) for each in ("missing", "duplicate", "stray")}
    told = ", ".join(f"{count:,} {each}" for each, count in faults.items())
    right, total = counts.get("delivered", 0), sum(counts.values())
    yield f"Of {total:,} deliveries that the subscriptions require, {right:,} are right; {told}."
    frames = sum(row["frames"] for row in tables["delivery/in_vain"])
    vain = sum(row["in_vain"] for row in tables["delivery/in_vain"])
    if frames:
        share = f"{vain:,} of {frames:,} frames between routers ({vain / frames:.1%})"
        yield f"{share} reached a router without a matching subscription."


def _stored(tables: Tables) -> Iterator[str]:
    if "durable/fates" not in tables:
        return
    counts: dict[str, int] = {}
    for row in tables["durable/fates"]:
        counts[row["fate"]] = counts.get(row["fate"], 0) + row["messages"]
    durables = len(tables["durable/subscriptions"])
    fates = ", ".join(f"{count:,} {_FATES.get(fate, fate)}" for fate, count in sorted(counts.items()))
    of = f"{durables:,} durable subscription{'' if durables == 1 else 's'}"
    yield f"{sum(counts.values()):,} messages of {of} were recorded: {fates}."
    yield from _custody(tables.get("durable/custody", ()))
    wrong: dict[str, int] = {}
    for row in tables["durable/faults"]:
        wrong[row["fault"]] = wrong.get(row["fault"], 0) + (row["messages"] or 1)
    for fault, count in sorted(wrong.items()):
        yield f"{fault} ({count:,}): {DURABLE_FAULTS[fault]}."


def _custody(rows: Iterable[Row]) -> Iterator[str]:
    found = _summed((row["verdict"], row["messages"]) for row in rows)
    if found:
        said = ", ".join(f"{found[each]:,} {words}" for each, words in CUSTODY_VERDICTS.items() if each in found)
        yield f"{sum(found.values()):,} messages were stored by a router for another one: {said}."


def _access(tables: Tables) -> Iterator[str]:
    if "access/logs" not in tables:
        return
    for row in tables["access/logs"]:
        log = f"audit log of {row['router']}"
        if row["problem"]:
            yield f"The {log} is not one chain: {row['problem']}."
        if row["broken"]:
            yield f"{row['broken']:,} lines of the {log} are no lines of one, and were left out."
        if row["cut_bytes"]:
            yield f"The last line of the {log} is cut ({row['cut_bytes']:,} B), and was left out."
    refused = [row for row in tables["access/constraints"] if row["outcome"] == "refused"]
    if refused:
        why = _largest(_summed((_refusal(row), row["requests"]) for row in refused))
        yield f"{sum(row['requests'] for row in refused):,} requests were refused by access rules: {why}."
    failed = tables["access/not_admitted"]
    if failed:
        where = _largest(_summed((row["address"] or "unknown", row["attempts"]) for row in failed))
        yield f"{sum(row['attempts'] for row in failed):,} times a client was not admitted, from {where}."
    if unwritten := sum(row["lines"] for row in tables["access/unwritten"]):
        yield f"{unwritten:,} lines of audit logs were only counted: the figures of access rules are at least these."
    yield from _rules(tables["access/in_force"])


def _refusal(row: Row) -> str:
    role = f"role {row['role']}" if row["role"] else "no role allows it"
    return f"{row['verb']}, {role}{': ' + row['constraint'] if row['constraint'] else ''}"


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for words, count in counts:
        found[words] = found.get(words, 0) + count
    return found


def _rules(spans: Sequence[Row]) -> Iterator[str]:
    """Yield whether all routers had the same rules at one time, and have them at the end."""
    if not spans:
        return
    last, most = spans[-1], max(row["routers"] for row in spans)
    if last["is_same"]:
        yield f"All {most:,} routers have the same access rules at the end ({last['digests'][0]})."
        return
    behind = ", ".join(last["last"])
    yield f"Routers have different access rules at the end; others than the newest: {behind}."
    if not any(row["is_same"] and row["routers"] == most for row in spans):
        yield f"At no time had all {most:,} routers the same access rules."


def undelivered(tables: Tables) -> Iterator[str]:
    """Yield, for each verdict but `delivered`, how many deliveries have it, and why or to whom."""
    for verdict, words in _WRONG.items():
        rows = [row for row in tables["delivery/counts"] if row["verdict"] == verdict]
        count = sum(row["deliveries"] for row in rows)
        if not count:
            continue
        if verdict == "undecided":
            why = _largest({row["reason"] or "no reason": row["deliveries"] for row in rows})
        elif verdict == "dropped":
            why = _largest(_drops(tables)) or "the routers' counters give no reason"
        else:
            clients = tables.get("delivery/by_client", ())
            why = _largest({_receiver(row): row[verdict] for row in clients})
        yield f"{count:,} {words}{f': {why}' if why else ''}."


def _receiver(row: Mapping[str, Any]) -> str:
    group = row.get("group")  # absent from earlier answers
    return f"{row['client'] or 'unknown'} at {row['router']}" if group is None else f"worker group {group}"


def _drops(tables: Tables) -> dict[str, int]:
    """Return how many messages were dropped, by reason and place: one message may have had many receivers."""
    found: dict[str, int] = {}
    for row in tables.get("traffic/drops", ()):
        if row["what"] == "dropped":
            place = f"{row['reason']} at {row['router']} towards {row['neighbour'] or row['client'] or 'unknown'}"
            found[place] = found.get(place, 0) + row["messages"]
    return found


def _largest(counts: Mapping[str, int]) -> str:
    """Return the few largest of `counts` in words."""
    found = sorted(((count, words) for words, count in counts.items() if count), key=lambda each: (-each[0], each[1]))
    more = [f"{len(found) - WHYS_MAX:,} more"] if len(found) > WHYS_MAX else []
    return "; ".join([*(f"{words} ({count:,})" for count, words in found[:WHYS_MAX]), *more])


def _changes(tables: Tables) -> Iterator[str]:
    took = [row["took_us"] for row in tables.get("control/convergence", ()) if row["took_us"] is not None]
    if took:
        longest = max(took) / 1e6
        yield f"The topology changed in {len(took):,} spans of time; the longest took {longest:,.1f} s to settle."
    storms = len(tables.get("control/storms", ()))
    if storms:
        yield f"In {storms:,} seconds a router received ten times its usual control traffic."


def _logs(tables: Tables) -> Iterator[str]:
    lines = tables["logs/lines"]
    if not any(row["lines"] for row in lines):
        if any(row["lines"] for row in tables.get("access/logs", ())):
            return  # they were asked about alone
        yield "No records found: nothing was recorded, or this is not a folder of logs."
        return
    for row in lines:
        if row["broken"]:
            share = f"{row['broken']:,} of {row['lines']:,} lines of {row['family']}"
            yield f"{share} are no valid records (cut, or of another program) and were left out."
        if row["newer"]:
            newer = f"{row['newer']:,} lines of {row['family']} have a newer version"
            yield f"{newer}; fields unknown to this version are missing here."
    if holes := tables["logs/holes"]:
        gone = sum(row["records"] for row in holes)
        yield f"{gone:,} records are missing in {len(holes):,} holes; deliveries in them are undecided."
    yield from _lives(tables["logs/lives"])
    unknown = [row["router"] for row in tables["logs/clocks"] if row["error_us"] is None]
    if unknown and len(tables["logs/clocks"]) > 1:
        yield f"The clocks of {', '.join(sorted(unknown))} were not compared: their times may be off."
    references = {row["reference"] for row in tables["logs/clocks"]}
    if len(references) > 1 and not unknown:
        yield f"Clocks could not be compared across {len(references)} parts of the network."


def _lives(lives: Sequence[Row]) -> Iterator[str]:
    broke = [row for row in lives if row["end"] == "broke off"]
    if broke:
        lives_of = "1 life of a router" if len(broke) == 1 else f"{len(broke):,} lives of routers"
        yield f"{lives_of} broke off without a last record: a crash or a kill."
    end = max(row["last_us"] for row in lives)
    for row in lives:
        if row["end"].startswith("open") and end - row["last_us"] > BEHIND_US:
            behind = f"The log of {row['router']} ends {(end - row['last_us']) / 1e6:,.0f} s before the last one"
            yield f"{behind}: the router did not restart, or its log is incomplete."
