"""A small server that speaks as much of S3's protocol as our storage needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

_ERROR = "<Error><Code>{}</Code></Error>"


class _Server(ThreadingHTTPServer):
    files: dict[str, bytes]
    uploads: dict[str, str]  # in parts, never finished: key -> begun at
    refuses: bool = False  # answers 403 to everything


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"  # clients wait for "100 Continue"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._refused():
            self.server.files[self._key()] = body
            self._answer(200)

    def do_GET(self) -> None:
        if self._refused():
            return
        if "uploads" in self.path:
            self._list_uploads()
        elif "list-type" in self.path:
            self._list()
        elif (body := self.server.files.get(self._key())) is None:
            self._answer(404, _ERROR.format("NoSuchKey").encode())
        else:
            self._answer(200, body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        if not self._refused():
            if "uploadId" in self.path:
                self.server.uploads.pop(self._key(), None)
            self.server.files.pop(self._key(), None)
            self._answer(204)

    def _list(self) -> None:
        asked = {n: v[0] for n, v in parse_qs(urlsplit(self.path).query).items()}
        after = asked.get("continuation-token", asked.get("start-after", ""))
        found = sorted(
            key
            for key in self.server.files
            if key.startswith(asked.get("prefix", "")) and key > after
        )
        page = found[: int(asked.get("max-keys", "1000"))]
        is_cut = len(page) < len(found)
        keys = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in page)
        token = page[-1] if is_cut else ""
        self._answer(
            200,
            f"<ListBucketResult><IsTruncated>{str(is_cut).lower()}</IsTruncated>"
            f"<NextContinuationToken>{token}</NextContinuationToken>{keys}</ListBucketResult>".encode(),
        )

    def _list_uploads(self) -> None:
        found = "".join(
            f"<Upload><Key>{key}</Key><UploadId>1</UploadId>"
            f"<Initiated>{begun}</Initiated></Upload>"
            for key, begun in self.server.uploads.items()
        )
        answer = f"<ListMultipartUploadsResult>{found}</ListMultipartUploadsResult>"
        self._answer(200, answer.encode())

    def _refused(self) -> bool:
        if self.server.refuses:
            self._answer(403, _ERROR.format("AccessDenied").encode())
        return self.server.refuses

    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).removeprefix("/bucket/")

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"x"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


@contextmanager
def s3_server() -> Iterator[_Server]:
    """Serve the bucket "bucket" on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.files, server.uploads = {}, {}
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
