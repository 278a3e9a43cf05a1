"""From a setting to a storage."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tasks.config import Config
from tasks.errors import ConfigError
from tasks.storage.base import Storage
from tasks.storage.local import LocalStorage


def make_storage(config: Config) -> Storage:
    """Return the storage that the settings name; nothing is touched yet.

    Raises:
        ConfigError: a bucket is named, and the library for it is not installed.
    """
    if config.storage_url is None:
        return LocalStorage(config.var_dir / "files")
    try:
        from tasks.storage.s3 import Bucket, S3Storage
    except ImportError as error:
        raise ConfigError(
            "STORAGE_URL names a bucket, and the library for it is missing; "
            "install it with: pip install 'carillon[s3]'."
        ) from error
    parts = urlsplit(config.storage_url)
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return S3Storage(
        Bucket(
            name=parts.netloc,
            prefix=parts.path.strip("/"),
            endpoint=options.get("endpoint"),
            region=options.get("region"),
        )
    )
