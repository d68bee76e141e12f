"""Names of the previous version, accepted in this one with a DeprecationWarning.

Law: this file is removed with the next version.
"""

from __future__ import annotations

from typing import Any, Final

from tamis.protocol.old_names import warn

CLASSES: Final = {
    "Attachment": "Consumer",
    "KeepInfo": "DurableInfo",
    "KeepRefused": "DurableRefused",
    "KeptMessage": "StoredMessage",
}
"""Old names of public classes, and the new ones."""


class OldVerbs:
    """The old names of the methods of a client; each returns what the new one returns."""

    durable: Any
    durables: Any
    remove_durable: Any
    consume: Any

    def keep(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the new method
        warn("Client.keep", "Client.durable")
        return self.durable(*args, **kwargs)

    def keeps(self) -> Any:  # noqa: ANN401
        warn("Client.keeps", "Client.durables")
        return self.durables()

    def forget(self, name: str) -> Any:  # noqa: ANN401
        warn("Client.forget", "Client.remove_durable")
        return self.remove_durable(name)

    def attach(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        warn("Client.attach", "Client.consume")
        return self.consume(*args, **kwargs)


class OldConsumer:
    """The old name of a consumer's end."""

    cancel: Any

    def detach(self) -> Any:  # noqa: ANN401
        warn("Attachment.detach", "Consumer.cancel")
        return self.cancel()
