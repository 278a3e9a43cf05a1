"""Where files are kept: a folder of this machine, or a bucket of S3's kind."""

from tasks.storage.base import (
    FileMissing,
    FileTooLarge,
    NoStorage,
    Storage,
    StorageFailed,
    Stored,
    key_of,
)
from tasks.storage.making import make_storage

__all__ = [
    "FileMissing",
    "FileTooLarge",
    "NoStorage",
    "Storage",
    "StorageFailed",
    "Stored",
    "key_of",
    "make_storage",
]
