"""The due and the actual deliveries: every missing, double and stray delivery.

Law: a delivery *must* exist if the filter was in force at a router in reach, well before the message entered and well
after it (`settle_us` and the errors of both clocks), nothing changed at about that time on the route there (`ways.py`;
or anywhere, `unrest.py`), and the logs of both ends are complete at about that time. It *may* exist if any of this does
not hold: then no fault is found, but the delivery is counted with the reason. At the router where the message entered
neither the network nor another clock matters. A counted drop is not a missing delivery: it is listed as a drop.
Messages of worker groups are judged by the group (`shares.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from tamis.analysis.questions import shares
from tamis.analysis.questions.standing import ID, LOCAL_US, LOG, MUST, OUTSIDE, PLACE, REASONS, standing, why
from tamis.analysis.questions.unrest import TICK_US
from tamis.analysis.questions.verdict_counts import FAULTS, VERDICTS
from tamis.analysis.records.parts import gathered, sent

SLOT_US: Final = 30_000_000
"""Subscriptions shorter than this are searched near the message only: a client that changes often subscribes to one
filter very often."""
_LASTING: Final = -1
"""The slot of subscriptions that last longer."""
TRAVELLING_MAX: Final = 300_000
"""The most subscriptions that are sent whole to each partition of the messages: tens of MB."""


@dataclass(frozen=True)
class DeliveryEvidence:
    """The tables on which verdicts are based. Times are on one clock in columns named at_us, and by the router's clock
    in others."""

    published: DataFrame
    """Published messages, with the `filters` that each satisfies."""
    messages: DataFrame
    in_force: DataFrame
    lives: DataFrame
    holes: DataFrame
    clocks: DataFrame
    topology: DataFrame
    restless: DataFrame
    """The ticks in which anything changed anywhere."""
    unsteady: DataFrame
    """For each source and router the `spans` in which the way between them changed, where that is known; then no other
    change counts."""
    settle_us: int
    keep: Callable[[DataFrame], DataFrame]
    """Makes sure that a table that is read more than once is computed once."""

    def asked_by(self, wanted: DataFrame) -> DataFrame:
        """Return `wanted` prepared for a join with messages: if subscriptions are few, they are sent to the
        messages."""
        return sent(wanted) if self.in_force.count() <= TRAVELLING_MAX else wanted


def observed(messages: DataFrame) -> DataFrame:
    """Return a row for each message and connection that it was queued for, with how often."""
    took = messages.where(F.col("refused").isNull() & (F.size("to_connections") > 0))
    took = gathered(took.select(*ID, "router", "epoch", "t_us", "to_connections"), *ID)
    each = took.select(*ID, "router", "epoch", "t_us", F.explode("to_connections").alias("connection"))
    return each.groupBy(*ID, *PLACE).agg(F.count("*").alias("times"), F.min("t_us").alias("got_us"))


def told(evidence: DeliveryEvidence, got: DataFrame) -> DataFrame:
    """Return the observed deliveries with `is_known`, whether the message is known, and `is_allowed`, whether a
    subscription of that connection matched it at that time."""
    wanted = evidence.in_force.select(*PLACE, "filter", "since_us", "until_us")
    known = got.join(evidence.published.select(*ID, "filters"), list(ID), "left")
    each = known.select(*got.columns, F.col("filters").isNotNull().alias("is_known"), F.explode_outer("filters"))
    asked = each.withColumnRenamed("col", "filter").join(evidence.asked_by(wanted), [*PLACE, "filter"], "left")
    fits = F.col("got_us").between(F.col("since_us") - LOCAL_US, F.col("until_us") + LOCAL_US)
    same = (F.max(column).alias(column) for column in ("times", "got_us", "is_known"))
    return asked.groupBy(*ID, *PLACE).agg(*same, F.max(F.coalesce(fits, F.lit(False))).alias("is_allowed"))


def judged(evidence: DeliveryEvidence) -> DataFrame:
    """Return a row for each message and connection that it concerns, with `verdict` and `reason`; if a worker group as
    a whole received nothing, or two copies, a row with `group` and no connection."""
    got = told(evidence, observed(evidence.messages))
    both = expected(evidence).join(got, [*ID, *PLACE], "full_outer")
    if evidence.in_force.where(F.col("group").isNotNull()).isEmpty():
        return _judged(evidence, both)
    both = evidence.keep(both)
    groups = evidence.keep(shares.shared(both, evidence.messages))
    one = both.where(F.col("standing").isNotNull() | F.col("got_us").isNotNull())
    of_each = _judged(evidence, one).join(shares.takers(groups), [*ID, *PLACE], "left")
    of_each = of_each.withColumn("is_due", F.col("is_due") | F.coalesce("is_share", F.lit(False))).drop("is_share")
    return of_each.unionByName(shares.judged(groups), allowMissingColumns=True)


def _judged(evidence: DeliveryEvidence, both: DataFrame) -> DataFrame:
    """Return a row for each row of `both`, which has the expected and the observed deliveries."""
    whole = _event_holes(evidence).select("router", "epoch", F.col("first_hole_us"))
    clients = evidence.in_force.groupBy(*PLACE).agg(F.first("client").alias("client"))
    both = both.join(sent(whole), ["router", "epoch"], "left").join(sent(clients), list(PLACE), "left")
    is_stray = F.col("got_us").isNotNull() & ~F.col("is_allowed")
    is_dark = ~F.col("is_known") | (F.col("first_hole_us") < F.col("got_us"))
    verdict = (
        F.when(is_stray & is_dark, "undecided")
        .when(is_stray, "stray")
        .when(F.col("times") > 1, "duplicate")
        .when(F.col("times") == 1, "delivered")
        .when((F.col("standing") == MUST) & F.col("is_dropped"), "dropped")
        .when(F.col("standing") == MUST, "missing")
        .otherwise("undecided")
    )
    return both.select(
        *(*ID, *PLACE, "client", F.lit(None).cast("string").alias("group")),
        *("times", "got_us", verdict.alias("verdict")),
        F.coalesce(F.col("standing") == MUST, F.lit(False)).alias("is_due"),
        F.when(is_stray & is_dark, REASONS[LOG]).when(F.col("got_us").isNull(), why()).alias("reason"),
    )


def expected(evidence: DeliveryEvidence) -> DataFrame:
    """Return a row for each message and connection whose filters it satisfies about that time: the best `standing` of
    the connection's subscriptions without a group (null: it has none), `shares`, the group and standing of each of the
    others, and whether the message `is_dropped` anywhere."""
    wanted = _with_clock(evidence.in_force, evidence).join(sent(_ends(evidence)), ["router", "epoch"], "left")
    slots = _in_slots(wanted, evidence.settle_us)
    pairs = _with_source(evidence).join(evidence.asked_by(slots), ["filter", "slot"])
    pairs = pairs.where(F.col("own") | ~_is_publisher())
    pairs = pairs.join(sent(evidence.unsteady), ["source", "router"], "left")
    pairs = pairs.withColumn("standing", standing(evidence.settle_us)).where(F.col("standing") != OUTSIDE)
    shares_none = F.col("group").isNull()
    return pairs.groupBy(*ID, *PLACE).agg(
        F.min(F.when(shares_none, F.col("standing"))).alias("standing"),
        F.collect_set(F.when(~shares_none, F.struct("group", "standing"))).alias("shares"),
        F.max("is_dropped").alias("is_dropped"),
    )


def _in_slots(wanted: DataFrame, settle_us: int) -> DataFrame:
    """Return `wanted` with a row for each slot of time in which a message may fall under the subscription."""
    error = F.coalesce("home_error_us", F.lit(settle_us))
    since, until = F.col("since_at_us") - error, F.col("until_at_us") + error
    slots = F.when(until - since < SLOT_US, _slots(since, until)).otherwise(F.array(F.lit(_LASTING).cast("long")))
    return wanted.withColumn("slot", F.explode(slots))


def _slots(since: Column, until: Column) -> Column:
    return F.sequence(F.floor(since / SLOT_US), F.floor(until / SLOT_US))


def _with_source(evidence: DeliveryEvidence) -> DataFrame:
    """Return messages by filter, with the state of the source router when they entered."""
    reach = _in_reach(evidence.topology)
    source = evidence.published.withColumn("tick", F.floor(F.col("at_us") / TICK_US))
    drops = evidence.messages.where(F.size("dropped") > 0).select(*ID, F.lit(True).alias("is_dropped")).distinct()
    source = source.join(drops, list(ID), "left")
    restless = evidence.restless.select("tick", F.lit(True).alias("is_restless"))
    source = source.join(sent(restless), "tick", "left")
    sampling = evidence.lives.select(
        F.col("router").alias("source"),
        F.col("epoch").alias("source_epoch"),
        F.col("sampling").alias("source_sampling"),
    )
    source = source.join(sent(sampling), ["source", "source_epoch"], "left")
    then = (
        (F.col("source") == F.col("reach_router"))
        & (F.col("source_epoch") == F.col("reach_epoch"))
        & (F.col("at_us") >= F.col("reach_from_us"))
        & (F.col("at_us") < F.col("reach_to_us"))
    )
    source = source.join(sent(reach), then, "left")
    error = F.coalesce("error_us", F.lit(evidence.settle_us))
    near = _slots(F.col("at_us") - error, F.col("at_us") + error)
    return source.select(
        *(*ID, "source", "source_epoch", "publisher", "at_us", "error_us", "is_restless", "source_sampling", "reach"),
        *("is_dropped", "filters", F.explode(F.concat(F.array(F.lit(_LASTING).cast("long")), near)).alias("slot")),
    ).withColumn("filter", F.explode("filters"))


def _in_reach(topology: DataFrame) -> DataFrame:
    """Return the topology that each router used, from one change to the next."""
    following = Window.partitionBy("router", "epoch").orderBy("n")
    return topology.select(
        F.col("router").alias("reach_router"),
        F.col("epoch").alias("reach_epoch"),
        F.col("at_us").alias("reach_from_us"),
        F.coalesce(F.lead("at_us").over(following), F.lit(1 << 62)).alias("reach_to_us"),
        F.col("routers").alias("reach"),
    )


def _with_clock(wanted: DataFrame, evidence: DeliveryEvidence) -> DataFrame:
    clocks = evidence.clocks.select("router", "offset_us", F.col("error_us").alias("home_error_us"))
    offset = F.coalesce("offset_us", F.lit(0))
    return (
        wanted.join(sent(clocks), "router", "left")
        .withColumn("since_at_us", F.col("since_us") + offset)
        .withColumn("until_at_us", F.col("until_us") + offset)
        .withColumn("home_offset_us", offset)
        .drop("offset_us")
    )


def _ends(evidence: DeliveryEvidence) -> DataFrame:
    """Return a row for each life: what it sampled, and its holes by family."""
    holes = evidence.lives.select("router", "epoch", "sampling")
    for family in ("messages", "events"):
        spans = evidence.holes.where(F.col("family") == family).groupBy("router", "epoch")
        mine = spans.agg(F.collect_list(F.struct("from_us", "to_us")).alias(f"{family}_holes"))
        holes = holes.join(mine, ["router", "epoch"], "left")
    return holes


def _event_holes(evidence: DeliveryEvidence) -> DataFrame:
    events = evidence.holes.where(F.col("family") == "events")
    return events.groupBy("router", "epoch").agg(F.min("from_us").alias("first_hole_us"))


def _is_publisher() -> Column:
    is_home = (F.col("source") == F.col("router")) & (F.col("source_epoch") == F.col("epoch"))
    return is_home & F.coalesce(F.col("publisher") == F.col("connection"), F.lit(False))


def faults(verdicts: DataFrame, published: DataFrame, messages: DataFrame) -> DataFrame:
    """Return each wrong delivery, with the message and the routers that had it."""
    wrong = verdicts.where(F.col("verdict").isin(*FAULTS))
    ids = wrong.select(*ID).distinct()
    had = messages.where(F.col("refused").isNull()).join(sent(ids), list(ID), "left_semi")
    seen = had.groupBy(*ID).agg(F.sort_array(F.collect_set("router")).alias("seen_at"))
    said = published.select(*ID, "source", "at_us", "attributes")
    return (
        wrong.join(said, list(ID), "left")
        .join(seen, list(ID), "left")
        .select("verdict", *ID, "at_us", "source", *PLACE, "client", "group", "times", "attributes", "seen_at")
        .orderBy("at_us", *ID, *PLACE)
    )


def counts(verdicts: DataFrame) -> DataFrame:
    """Return the number of each verdict; `due` counts the deliveries that certainly had to exist."""
    by_verdict = verdicts.groupBy("verdict", "reason").agg(
        F.count("*").alias("deliveries"), F.sum(F.col("is_due").cast("long")).alias("due")
    )
    return by_verdict.orderBy("verdict", "reason")


def undecidable(restless_spans: DataFrame, unsteady: DataFrame) -> DataFrame:
    """Return when the network was changing and why, and how many `ways` between two routers (`of` all) were unsteady.
    If no ways are known, every one counts as unsteady."""
    each = unsteady.select("source", "router", F.explode("spans").alias("span"))
    meets = (F.col("span.from_us") <= F.col("to_us")) & (F.col("span.to_us") >= F.col("from_us"))
    ways = F.countDistinct("source", "router").alias("ways")
    counted = restless_spans.join(F.broadcast(each), meets).groupBy("from_us").agg(ways)
    total = unsteady.agg(F.count("*").alias("of"))
    return restless_spans.join(counted, "from_us", "left").crossJoin(F.broadcast(total)).orderBy("from_us")


def by_client(verdicts: DataFrame) -> DataFrame:
    """Return a row for each router and client with the counts of its verdicts; a client is unknown if it never
    subscribed. If no member of a worker group received a message, or two did, the group has a row."""
    known = verdicts.groupBy("router", "client", "group").pivot("verdict", list(VERDICTS)).count().fillna(0)
    return known.orderBy("router", "client", "group")


def in_vain(messages: DataFrame) -> DataFrame:
    """Return the frames over a link to a router that neither delivered nor forwarded them."""
    crossed = messages.where((F.col("hop") > 0) & F.col("refused").isNull())
    goes_on = (F.size("to_neighbours") > 0) | (F.size("dropped") > 0)
    is_vain = (F.coalesce("matched", F.lit(0)) == 0) & ~F.coalesce(goes_on, F.lit(False))
    return (
        crossed.groupBy("router", "from_neighbour")
        .agg(
            F.count("*").alias("frames"),
            F.sum(is_vain.cast("long")).alias("in_vain"),
            F.sum(F.when(is_vain, F.col("bytes")).otherwise(0)).alias("bytes_in_vain"),
        )
        .orderBy("router", "from_neighbour")
    )
