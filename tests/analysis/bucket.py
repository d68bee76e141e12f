"""A stand-in for S3 on this machine, by moto, that refuses and cuts answers, and whose files may go meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

from tamis.analysis.records import remote

BUCKET = "records"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
Answer = Iterable[bytes]


class Bucket:
    """`refuses`: of so many requests for content the first is refused; `cuts`: of so many the answer to one ends too
    early. 0: of none."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.refuses = self.cuts = 0
        self.requests = 0
        self.sizes: list[int] = []
        self.before: Callable[[str], None] = lambda _: None
        """Called with the path of a file before its content is sent."""

    @property
    def folder(self) -> str:
        return f"s3://{BUCKET}/logs"

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def filled(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(str(path.relative_to(folder)), path.read_bytes())

    def put(self, name: str, content: bytes) -> None:
        _stored().put_object(BUCKET, f"logs/{name}", content)

    def remove(self, name: str) -> None:
        _stored().delete_object(BUCKET, f"logs/{name}")

    def application(self, environ: dict[str, Any], start: Callable[..., Any]) -> Answer:
        if environ["REQUEST_METHOD"] != "GET" or "list-type" in environ.get("QUERY_STRING", ""):
            return _MOTO(environ, start)
        self.requests += 1
        self.before(environ["PATH_INFO"])
        if self.refuses and self.requests % self.refuses == 1:
            start("503 Slow Down", [("Content-Length", "0")])
            return []
        content = b"".join(_MOTO(environ, start))
        self.sizes.append(len(content))
        is_cut = self.cuts and self.requests % self.cuts == 2
        return [content[: len(content) // 2]] if is_cut else [content]


def _stored() -> Any:
    """Return what the stand-in stores: a client in this process would wait for the server while that waits for it."""
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]


_MOTO: Any = DomainDispatcherApplication(create_backend_app)


@contextmanager
def served(set_variable: Callable[[str, str], None]) -> Iterator[Bucket]:
    """Serve an empty bucket. `set_variable` sets a variable of the environment."""
    bucket = Bucket(0)
    server = make_server("127.0.0.1", 0, bucket.application, threaded=True)
    bucket.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": bucket.endpoint}.items():
        set_variable(name, value)
    remote._bucket_system.cache_clear()
    try:
        _stored().create_bucket(BUCKET, "us-east-1")
        yield bucket
    finally:
        _stored().reset()
        remote._bucket_system.cache_clear()
        server.shutdown()
        thread.join()
        server.server_close()
