"""A publisher and a subscriber of whichever Tamis PYTHONPATH names: python exchange.py COUNT ADDRESS ADDRESS

Prints one JSON object: how many were confirmed, how many came, and which Tamis this was.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import tamis


async def main(count: int, there: str, here: str) -> None:
    async with tamis.connect(there, patience_s=10) as writer, tamis.connect(here, patience_s=10) as reader:
        async with reader.subscribe("exchange >= 0", wait="network") as wanted:
            for n in range(count):
                await writer.publish({"exchange": n}, confirm=True)
            came: list[object] = []
            async with asyncio.timeout(10):
                while len(came) < count:
                    item = await anext(wanted)
                    if isinstance(item, tamis.Message):
                        came.append(item["exchange"])
    of = str(Path(tamis.__file__).parent)
    print(json.dumps({"confirmed": count, "came": len(came), "in_order": came == list(range(count)), "of": of}))


asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
