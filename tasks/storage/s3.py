"""Files in a bucket of Amazon S3, or of any service that speaks its protocol."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import boto3
from boto3.exceptions import Boto3Error
from botocore.config import Config as ClientConfig
from botocore.exceptions import BotoCoreError, ClientError

from tasks.saying import say
from tasks.storage.base import (
    ABANDONED,
    CHUNK,
    FileMissing,
    StorageFailed,
    Stored,
    checked,
    checked_prefix,
)
from tasks.storage.limiting import copy

_PROBE: Final = "doctor/probe"
#: What services answer when a file, though not the bucket, is not there.
_MISSING: Final = frozenset({"404", "NoSuchKey", "NotFound"})
_CLIENT: Final = ClientConfig(
    connect_timeout=5,
    read_timeout=30,
    retries={"total_max_attempts": 3, "mode": "standard"},
    # Other services than Amazon's know no checksums behind the body.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a bucket is; who we are is read as by Amazon's own tools."""

    name: str
    prefix: str  # of every key; no slash at its ends; empty: none
    endpoint: str | None  # None: Amazon's own
    region: str | None  # None: as the environment says


class S3Storage:
    """A bucket: a key is a key in it, behind the prefix."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        with _as_failures():
            # A session of its own: the default one is not safe for several threads.
            self._client: Any = boto3.session.Session().client(
                "s3",
                endpoint_url=bucket.endpoint,
                region_name=bucket.region,
                config=_CLIENT,
            )

    @property
    def title(self) -> str:
        """Where the files are, for operators."""
        at = f" at {self._bucket.endpoint}" if self._bucket.endpoint else ""
        return f"bucket {self._bucket.name}{at}"

    def put(self, key: str, stream: BinaryIO, *, limit: int) -> Stored:
        """Spool to this machine's disk first: what is too large is not sent at all."""
        name = self._name(key)
        with tempfile.TemporaryFile() as spooled:
            stored = copy(stream, cast("BinaryIO", spooled), limit=limit)
            spooled.seek(0)
            with _as_failures():
                self._client.upload_fileobj(spooled, self._bucket.name, name)
        return stored

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """Read a file from its start; the stream cannot seek."""
        name = self._name(key)
        with _as_failures(key):
            body = self._client.get_object(Bucket=self._bucket.name, Key=name)["Body"]
        with closing(body), _as_failures():
            yield body

    @contextmanager
    def at_hand(self, key: str) -> Iterator[Path]:
        """Give a copy that is removed at the end of the block."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            with self.open(key) as stream, path.open("wb") as file:
                while piece := stream.read(CHUNK):
                    file.write(piece)
            yield path

    def size(self, key: str) -> int | None:
        """Return how many bytes a file has; ``None``: there is none."""
        name = self._name(key)
        try:
            with _as_failures(key):
                head = self._client.head_object(Bucket=self._bucket.name, Key=name)
        except FileMissing:
            return None
        return int(head["ContentLength"])

    def delete(self, key: str) -> None:
        """Remove a file; one that is not there is removed already."""
        with _as_failures():
            self._client.delete_object(Bucket=self._bucket.name, Key=self._name(key))

    def keys(self, prefix: str, *, after: str = "", limit: int = 1000) -> Sequence[str]:
        """Return keys that begin with ``prefix``, in their order, past ``after``."""
        own = self._own
        asked = {"Prefix": own + checked_prefix(prefix), "Bucket": self._bucket.name}
        if after:
            asked["StartAfter"] = own + checked(after)
        with _as_failures():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                **asked, PaginationConfig={"MaxItems": limit, "PageSize": limit}
            )
            found = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return [name[len(own) :] for name in found]

    def check(self) -> None:
        """Write, read and remove a small file."""
        name = self._name(_PROBE)
        with _as_failures():
            self._client.put_object(Bucket=self._bucket.name, Key=name, Body=b"x")
            self._client.head_object(Bucket=self._bucket.name, Key=name)
            self._client.delete_object(Bucket=self._bucket.name, Key=name)

    def tidy(self) -> None:
        """Abort uploads in parts whose process died over a day ago: they cost money."""
        bucket, own = self._bucket.name, self._own
        before = datetime.now(UTC) - ABANDONED
        with _as_failures():
            pages = self._client.get_paginator("list_multipart_uploads")
            for page in pages.paginate(Bucket=bucket, Prefix=own):
                for each in page.get("Uploads", ()):
                    if each["Initiated"] < before:
                        self._client.abort_multipart_upload(
                            Bucket=bucket, Key=each["Key"], UploadId=each["UploadId"]
                        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _name(self, key: str) -> str:
        return self._own + checked(key)

    @property
    def _own(self) -> str:
        return f"{self._bucket.prefix}/" if self._bucket.prefix else ""


@contextmanager
def _as_failures(key: str | None = None) -> Iterator[None]:
    """Turn the library's errors into ours; with a key, into "missing" as well."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if key is not None and code in _MISSING:
            raise FileMissing(key) from error
        raise StorageFailed(
            say("The bucket refuses: %(code)s.", code=code)
            if code
            else say("The bucket refuses: no reason.")
        ) from error
    except (BotoCoreError, Boto3Error) as error:
        why = type(error).__name__
        raise StorageFailed(
            say("The bucket cannot be reached (%(why)s).", why=why)
        ) from error
