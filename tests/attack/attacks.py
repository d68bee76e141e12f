"""The attacks by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.attack import admin, custody, durable, durable_answers, full, matching, owners, places, rules, trust
from tests.attack.figure import Attack

ATTACKS: Final[Mapping[str, Attack]] = {
    "epoch": trust.epoch_of_another,
    "behind": trust.not_behind,
    "predicate": trust.large_predicate,
    "hashes": matching.hashes,
    "door": places.strangers_at_the_door,
    "links": places.links_when_all_is_taken,
    "descriptors": places.links_without_descriptors,
    "page": admin.pages_of_filters,
    "counters": trust.counters,
    "contains": matching.contains,
    "in": matching.hostile_in,
    "tokens": trust.tokens,
    "confirm": trust.confirmed_after_a_start,
    "slow": admin.slow_requests,
    "sites": admin.foreign_pages,
    "names": trust.names,
    "traces": matching.traces,
    "refusing": full.refusing_durable,
    "full": full.full_log,
    "answers": durable_answers.answers,
    "owners": owners.deeds,
    "poison": owners.poison,
    "lookalikes": owners.lookalikes,
    "replays": durable.idle_replays,
    "share": durable.a_full_share,
    "rules": rules.verbs,
    "reloads": rules.reloads,
    "revoked": rules.revoked,
    "greetings": rules.greetings,
    "custody": custody.lies,
    "stated": custody.stated,
}
