"""`tamis trace --dry-run`: show where a message would go."""

from __future__ import annotations

from tamis.cli.delivery.trails import Form, Names, some
from tamis.protocol.old_names import with_old
from tamis.protocol.wire.report_bodies import DryRunReport, WouldDeliver

HEAD = ("subscriptions", "would forward to", "would be stored by", "would deliver to")


class DryRunDisplay:
    def __init__(self, names: Names) -> None:
        self._names = names

    def row(self, report: DryRunReport) -> list[str]:
        return [
            f"{report.delivery_count:13,}",
            some(self._routers(report), report.passed_count),
            some(report.durables, report.durable_count),
            some([self._names.subscription(*each) for each in report.deliveries], report.delivery_count, "; "),
        ]

    def form(self, report: DryRunReport) -> Form:
        form: Form = {
            "delivery_count": report.delivery_count,
            "deliveries": [self._delivery_form(each) for each in report.deliveries],
            "passed_count": report.passed_count,
            "routers": self._routers(report),
            "durable_count": report.durable_count,
            "durables": list(report.durables),
        }
        return with_old(form, keeps="durables", keep_count="durable_count")

    def _routers(self, report: DryRunReport) -> list[str]:
        return [self._names.of(number) for number in report.passed_to]

    def _delivery_form(self, delivery: WouldDeliver) -> Form:
        client, id_ = delivery
        said = {"text": self._names.text(client, id_), "group": self._names.group(client, id_)}
        return {"client": self._names.of(client), "subscription": id_} | said
