"""Every setting, read from the environment once and checked at the start."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parseaddr
from pathlib import Path
from typing import Final, Literal
from urllib.parse import parse_qsl

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from tasks.config_addresses import bracketed, checked_base_url, parts_of
from tasks.congregation.addresses.downloading import OPEN_DATA_HOSTS
from tasks.errors import ConfigError

Environment = Literal["development", "production"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Exit status of a start that a setting forbids (EX_CONFIG of sysexits.h).
EX_CONFIG: Final = 78
#: A production key shorter than this is refused; 32 bytes written in hex have 64.
SECRET_KEY_MIN: Final = 32
#: Whoever knows the secret of /cron/ can have work done at any time.
CRON_SECRET_MIN: Final = 16
#: How often a rule that could loop may act on one thing within an hour.
LOOP_RATE: Final = 30
_WEAK_KEYS: Final = frozenset({"secret", "changeme", "change-me", "dev", "development"})


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one installation; ``docs/configuration.md`` explains each."""

    environment: Environment
    var_dir: Path
    database_url: URL
    redis_url: str | None  # None: Huey's queues live in SQLite under var_dir
    secret_key: str
    base_url: str  # no slash at the end
    web_host: str
    web_port: int
    web_workers: int  # processes
    proxy_hops: int  # proxies before the console whose X-Forwarded-* headers count
    health_host: str
    health_port: int  # the worker's /livez and /readyz; 0 takes a free one
    smtp_url: str | None  # None: mails fail with a sentence that says so
    mail_from: str
    webhook_allow: tuple[Network, ...]  # private networks that webhooks may reach
    webhook_http: bool  # whether plain http:// addresses are accepted
    webhook_ports: frozenset[int]
    open_data_hosts: frozenset[str]  # from which files of addresses may come
    lease: timedelta  # how long a claimed row belongs to its worker
    rescue_every: timedelta
    shutdown_grace: timedelta  # how long a stopping worker may finish what it holds
    keep_settled: timedelta  # how long settled executions and jobs stay
    keep_succeeded: timedelta | None  # of executions; None: as keep_settled
    keep_failed: timedelta | None  # of executions, also quarantined ones; None: same
    keep_not_run: timedelta | None  # of executions cancelled or skipped; None: same
    keep_runs: timedelta  # how long lane runs stay
    campaign_hour: int  # of UTC; when campaigns of every congregation are looked over
    retention_hour: int  # of UTC; when members gone too long are anonymised
    cron_secret: str | None  # None: /cron/ addresses refuse everybody
    loop_rate: int  # times an hour that a rule may act on one booking, episode, guest
    body_limit: int  # bytes of one API request
    storage_url: str | None  # None: files live in a folder under var_dir
    upload_limit: int  # bytes of one document
    archive_limit: int  # bytes of one archive, or file of addresses
    page_size: int  # rows of one list page

    @property
    def is_production(self) -> bool:
        """Whether the strict checks of production apply."""
        return self.environment == "production"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Config:
        """Read and check every setting.

        Creates ``VAR_DIR`` and, outside production, a secret key in it.

        Raises:
            ConfigError: a setting is missing or wrong; the message names it.
        """
        read = _Reader(environ)
        environment = read.environment()
        var_dir = read.directory("VAR_DIR", "var")
        web_host = read.text("WEB_HOST", "127.0.0.1")
        web_port = read.port("PORT", 8000)
        return cls(
            environment=environment,
            var_dir=var_dir,
            database_url=read.database(var_dir),
            redis_url=read.redis(),
            secret_key=read.secret_key(environment, var_dir),
            base_url=read.base_url(f"http://{bracketed(web_host)}:{web_port}"),
            web_host=web_host,
            web_port=web_port,
            web_workers=read.number("WEB_WORKERS", 2, low=1, high=64),
            proxy_hops=read.number("PROXY_HOPS", 0, low=0, high=5),
            health_host=read.text("HEALTH_HOST", "127.0.0.1"),
            health_port=read.port("HEALTH_PORT", 9090, low=0),
            smtp_url=read.smtp(),
            mail_from=read.mail_from(),
            webhook_allow=read.networks("WEBHOOK_ALLOW"),
            webhook_http=read.flag("WEBHOOK_HTTP", default=False),
            webhook_ports=read.ports("WEBHOOK_PORTS", "80,443,8443"),
            open_data_hosts=read.hosts("OPEN_DATA_ALLOWLIST") | OPEN_DATA_HOSTS,
            lease=read.seconds("LEASE_SECONDS", 60, low=1, high=3600),
            rescue_every=read.seconds("RESCUE_SECONDS", 15, low=1, high=600),
            shutdown_grace=read.seconds("SHUTDOWN_SECONDS", 25, low=0, high=600),
            keep_settled=read.days("KEEP_SETTLED_DAYS", 90),
            keep_succeeded=read.some_days("KEEP_SUCCEEDED_DAYS"),
            keep_failed=read.some_days("KEEP_FAILED_DAYS"),
            keep_not_run=read.some_days("KEEP_NOT_RUN_DAYS"),
            keep_runs=read.days("KEEP_RUNS_DAYS", 7),
            campaign_hour=read.number("CAMPAIGN_CRON_HOUR_UTC", 2, low=0, high=23),
            retention_hour=read.number("RETENTION_CRON_HOUR_UTC", 3, low=0, high=23),
            cron_secret=read.cron_secret(),
            loop_rate=read.number("LOOP_RATE", LOOP_RATE, low=1, high=100_000),
            body_limit=read.number("BODY_LIMIT", 262_144, low=1024, high=16_777_216),
            storage_url=read.storage(),
            upload_limit=read.size("UPLOAD_LIMIT", 50_000_000, 1_000_000_000),
            archive_limit=read.size("ARCHIVE_LIMIT", 500_000_000, 20_000_000_000),
            page_size=read.number("PAGE_SIZE", 50, low=10, high=200),
        )


class _Reader:
    """Reads single settings; every refusal is one sentence that names the setting."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def text(self, name: str, default: str) -> str:
        return self._environ.get(name, "").strip() or default

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.text(name, "1" if default else "0").lower()
        if value in {"1", "true", "yes", "on"}:
            return True
        if value in {"0", "false", "no", "off"}:
            return False
        raise ConfigError(f"{name} must be 1 or 0, not {value!r}.")

    def number(self, name: str, default: int, *, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ConfigError(
                f"{name} must be a whole number from {low} to {high}, not {value!r}."
            )
        return int(value)

    def size(self, name: str, default: int, high: int) -> int:
        return self.number(name, default, low=1024, high=high)

    def port(self, name: str, default: int, *, low: int = 1) -> int:
        return self.number(name, default, low=low, high=65_535)

    def ports(self, name: str, default: str) -> frozenset[int]:
        pieces = [piece.strip() for piece in self.text(name, default).split(",")]
        if not all(
            p.isascii() and p.isdigit() and 1 <= int(p) <= 65_535 for p in pieces
        ):
            raise ConfigError(
                f"{name} must list ports from 1 to 65535, as in 443,8443."
            )
        return frozenset(int(piece) for piece in pieces)

    def seconds(self, name: str, default: int, *, low: int, high: int) -> timedelta:
        return timedelta(seconds=self.number(name, default, low=low, high=high))

    def days(self, name: str, default: int) -> timedelta:
        return timedelta(days=self.number(name, default, low=1, high=3650))

    def some_days(self, name: str) -> timedelta | None:
        return self.days(name, 1) if self.text(name, "") else None

    def environment(self) -> Environment:
        value = self.text("CARILLON_ENV", "development")
        if value == "production":
            return "production"
        if value == "development":
            return "development"
        raise ConfigError(
            f"CARILLON_ENV must be development or production, not {value!r}."
        )

    def directory(self, name: str, default: str) -> Path:
        path = Path(self.text(name, default)).resolve()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{name} must be a folder that can be written to; {path} is not "
                f"({error.strerror})."
            ) from error
        return path

    def database(self, var_dir: Path) -> URL:
        value = self.text("DATABASE_URL", f"sqlite:///{var_dir / 'carillon.db'}")
        try:
            url = make_url(value)
        except (ArgumentError, ValueError) as error:  # the second: a port of letters
            raise ConfigError(
                "DATABASE_URL must be a database address such as "
                "postgresql://user@host/name or sqlite:////path/to/file.db."
            ) from error
        if url.drivername in {"postgresql", "postgres", "postgresql+psycopg"}:
            return url.set(drivername="postgresql+psycopg")
        if url.drivername in {"sqlite", "sqlite+pysqlite"} and url.database:
            return url
        raise ConfigError(
            f"DATABASE_URL must name PostgreSQL or an SQLite file, "
            f"not {url.drivername!r}."
        )

    def redis(self) -> str | None:
        value = self.text("REDIS_URL", "")
        if value and parts_of("REDIS_URL", value).scheme not in {
            "redis",
            "rediss",
            "unix",
        }:
            raise ConfigError(
                "REDIS_URL must begin with redis://, rediss:// or unix://."
            )
        return value or None

    def storage(self) -> str | None:
        value = self.text("STORAGE_URL", "")
        parts = parts_of("STORAGE_URL", value)
        endpoint = parts_of(
            "STORAGE_URL", dict(parse_qsl(parts.query)).get("endpoint", "https://x")
        )
        if value and (
            parts.scheme != "s3"
            or not re.fullmatch(r"[a-z0-9][a-z0-9.-]+", parts.netloc)
            or not re.fullmatch(r"(/[\w-][\w.-]*)*/?", parts.path)
            or endpoint.scheme not in {"http", "https"}
            or not endpoint.hostname
        ):
            raise ConfigError(
                "STORAGE_URL must look like s3://bucket, s3://bucket/folder or "
                "s3://bucket?endpoint=https://storage.example.org&region=eu-1."
            )
        return value or None

    def secret_key(self, environment: Environment, var_dir: Path) -> str:
        key = self.text("SECRET_KEY", "")
        if environment == "production":
            if len(key) < SECRET_KEY_MIN or len(set(key)) < 8 or key in _WEAK_KEYS:
                raise ConfigError(
                    f"SECRET_KEY must be at least {SECRET_KEY_MIN} random characters "
                    "in production; make one with: python -c "
                    "'import secrets; print(secrets.token_hex(32))'."
                )
            return key
        return key or _kept_key(var_dir / "secret_key")

    def cron_secret(self) -> str | None:
        secret = self.text("CRON_SECRET", "")
        if secret and (len(secret) < CRON_SECRET_MIN or not secret.isascii()):
            raise ConfigError(
                f"CRON_SECRET must have at least {CRON_SECRET_MIN} characters, all of "
                "them ASCII, or not be set."
            )
        return secret or None

    def base_url(self, default: str) -> str:
        return checked_base_url(self.text("BASE_URL", default))

    def smtp(self) -> str | None:
        value = self.text("SMTP_URL", "")
        parts = parts_of("SMTP_URL", value)
        if value and (
            parts.scheme not in {"smtp", "smtps", "smtp+starttls"} or not parts.hostname
        ):
            raise ConfigError(
                "SMTP_URL must look like smtp+starttls://user:password@host:587, "
                "smtps://… or smtp://…."
            )
        return value or None

    def mail_from(self) -> str:
        value = self.text("MAIL_FROM", "Carillon <carillon@localhost>")
        local, _, domain = parseaddr(value)[1].rpartition("@")
        if not local or not domain or any(ord(char) < 32 for char in value):
            raise ConfigError(
                "MAIL_FROM must be one e-mail address, such as "
                "Studio <studio@example.org>."
            )
        if not local.isascii():
            raise ConfigError(
                "MAIL_FROM must have plain letters before its @: many mail servers "
                "could not answer."
            )
        return value

    def hosts(self, name: str) -> frozenset[str]:
        pieces = [piece.strip().lower() for piece in self.text(name, "").split(",")]
        if not all(re.fullmatch(r"[0-9a-z.-]*", piece) for piece in pieces):
            raise ConfigError(
                f"{name} must list hosts without https:// or paths, as in "
                "data.example.org,files.example.org."
            )
        return frozenset(piece for piece in pieces if piece)

    def networks(self, name: str) -> tuple[Network, ...]:
        pieces = [p.strip() for p in self.text(name, "").split(",") if p.strip()]
        try:
            return tuple(ipaddress.ip_network(piece) for piece in pieces)
        except ValueError as error:
            raise ConfigError(
                f"{name} must list networks such as 10.1.0.0/16 ({error})."
            ) from error


def _kept_key(path: Path) -> str:
    """Return the development key kept in ``path``, making it the first time."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32), encoding="ascii")
    key = path.read_text(encoding="ascii").strip()
    if not key:
        raise ConfigError(
            f"SECRET_KEY is not set and {path} is empty; delete that file."
        )
    return key
