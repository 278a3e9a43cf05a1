"""Settings: good defaults, a sentence for every mistake, and all in the docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tasks.config import SECRET_KEY_MIN, Config
from tasks.errors import ConfigError

ROOT = Path(__file__).parent.parent
GOOD_KEY = "0123456789abcdef" * 4


def read(var_dir: Path, **environ: str) -> Config:
    return Config.from_environ({"VAR_DIR": str(var_dir), **environ})


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert config.database_url.database == str(tmp_path / "carillon.db")
    assert config.redis_url is None
    assert config.base_url == "http://127.0.0.1:8000"
    assert config.lease == timedelta(seconds=60)
    assert not config.is_production


def test_a_development_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    first = read(tmp_path).secret_key
    assert len(first) >= SECRET_KEY_MIN
    assert read(tmp_path).secret_key == first
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_an_empty_setting_counts_as_not_set(tmp_path: Path) -> None:
    assert read(tmp_path, REDIS_URL="", PORT=" ").redis_url is None


def test_postgres_is_reached_through_psycopg_however_it_is_spelled(
    tmp_path: Path,
) -> None:
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        url = read(tmp_path, DATABASE_URL=f"{scheme}://u:p@h/d").database_url
        assert url.drivername == "postgresql+psycopg"


def test_production_starts_with_a_strong_key(tmp_path: Path) -> None:
    config = read(tmp_path, CARILLON_ENV="production", SECRET_KEY=GOOD_KEY)
    assert config.is_production


@pytest.mark.parametrize(
    "key", ["", "short", "a" * 64, "changeme", "secret" * 2], ids=repr
)
def test_production_refuses_a_weak_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="SECRET_KEY"):
        read(tmp_path, CARILLON_ENV="production", SECRET_KEY=key)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARILLON_ENV", "staging"),
        ("DATABASE_URL", "mysql://h/d"),
        ("DATABASE_URL", "nonsense"),
        ("DATABASE_URL", "sqlite://"),
        ("REDIS_URL", "http://h"),
        ("BASE_URL", "carillon.example.org"),
        ("BASE_URL", "//carillon.example.org"),
        ("BASE_URL", "ftp://carillon.example.org"),
        ("BASE_URL", "https://"),
        ("BASE_URL", "https://h/?q=1"),
        ("BASE_URL", "https://h?"),
        ("BASE_URL", "https://h#top"),
        ("BASE_URL", "https://h/carillon"),
        ("BASE_URL", "https://h//"),
        ("BASE_URL", "https://ada:secret@h"),
        ("BASE_URL", "https://kirche-köln.example"),
        ("BASE_URL", "https://a b.example"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("PORT", "eighty"),
        ("HEALTH_PORT", "70000"),
        ("WEB_WORKERS", "0"),
        ("WEB_WORKERS", "²"),
        ("SMTP_URL", "http://h"),
        ("SMTP_URL", "smtp://"),
        ("SMTP_URL", "smtp://h:99999"),
        ("SMTP_URL", "smtp://me:pa/ss@h"),
        ("SMTP_URL", "smtp://[h"),
        ("BASE_URL", "http://[h"),
        ("BASE_URL", "http://h:x"),
        ("REDIS_URL", "redis://["),
        ("STORAGE_URL", "s3://bucket?endpoint=http://["),
        ("DATABASE_URL", "postgresql://h:x/d"),
        ("MAIL_FROM", "nobody"),
        ("MAIL_FROM", "@"),
        ("MAIL_FROM", "Studio <zoë@example.org>"),
        ("MAIL_FROM", "a@b.example\nBcc: c@d.example"),
        ("WEBHOOK_ALLOW", "10.0.0.1/8"),
        ("WEBHOOK_ALLOW", "intranet"),
        ("WEBHOOK_HTTP", "maybe"),
        ("WEBHOOK_PORTS", "443;80"),
        ("LEASE_SECONDS", "0"),
        ("RESCUE_SECONDS", "1.5"),
        ("SHUTDOWN_SECONDS", "601"),
        ("KEEP_SETTLED_DAYS", "0"),
        ("KEEP_RUNS_DAYS", "x"),
        ("CAMPAIGN_CRON_HOUR_UTC", "24"),
        ("RETENTION_CRON_HOUR_UTC", "-1"),
        ("KEEP_FAILED_DAYS", "0"),
        ("CRON_SECRET", "too short"),
        ("BODY_LIMIT", "1"),
        ("STORAGE_URL", "ftp://bucket"),
        ("STORAGE_URL", "s3://"),
        ("STORAGE_URL", "s3://bucket/../other"),
        ("STORAGE_URL", "s3://bucket?endpoint=storage"),
        ("UPLOAD_LIMIT", "1"),
        ("ARCHIVE_LIMIT", "all"),
        ("OPEN_DATA_ALLOWLIST", "https://data.example.org/"),
        ("PAGE_SIZE", "1000"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(
    tmp_path: Path, name: str, value: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} ") as caught:
        read(tmp_path, **{name: value})
    assert str(caught.value).rstrip("…").endswith(".")
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"^VAR_DIR "):
        read(tmp_path / "file" / "var")


@dataclass(frozen=True)
class Setting:
    """One setting as the code reads it, or as the docs tell it."""

    default: str | None  # None: not a plain value
    low: str | None = None
    high: str | None = None


def in_the_code() -> Mapping[str, Setting]:
    source = (ROOT / "tasks" / "config.py").read_text(encoding="utf-8")
    return dict(_calls(ast.parse(source)))


def _calls(tree: ast.Module) -> Iterator[tuple[str, Setting]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        first = node.args[0] if node.args else None
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            continue
        if not re.fullmatch(r"[A-Z][A-Z_]+", first.value):
            continue
        given = {word.arg: word.value for word in node.keywords}
        low, high = given.get("low"), given.get("high")
        if node.func.attr == "port":
            low, high = low or ast.Constant(1), ast.Constant(65_535)
        if node.func.attr == "days":
            low, high = ast.Constant(1), ast.Constant(3650)
        if node.func.attr == "size":
            low, high = ast.Constant(1024), node.args[2]
        default = node.args[1] if len(node.args) > 1 else given.get("default")
        yield first.value, Setting(_value(default), _value(low), _value(high))


def _value(node: ast.expr | None) -> str | None:
    if not isinstance(node, ast.Constant) or node.value in {"", None}:
        return None
    return str(int(node.value) if isinstance(node.value, bool) else node.value)


def in_the_docs() -> Mapping[str, Setting]:
    text = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `([A-Z_]+)` \| .* \| ([^|]*) \| ([^|]*) ?\|$", text, re.MULTILINE
    )
    found = {}
    for name, default, limits in rows:
        bounds = re.match(r"(\d+) to (\d+)", limits)
        low, high = bounds.groups() if bounds else (None, None)
        plain = default.strip().strip("`") if default.startswith("`") else None
        found[name] = Setting(plain, low, high)
    return found


def test_the_docs_name_every_setting_and_no_other() -> None:
    assert set(in_the_docs()) == set(in_the_code())


@pytest.mark.parametrize("name", sorted(in_the_code()))
def test_the_docs_tell_the_default_and_the_limits(name: str) -> None:
    told, real = in_the_docs()[name], in_the_code()[name]
    if real.default is not None:
        assert told.default is not None
        assert told.default.replace("_", "") == real.default.replace("_", "")
    if real.low is not None:
        assert (told.low, told.high) == (real.low, real.high)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("https://carillon.example.org", "https://carillon.example.org"),
        ("https://carillon.example.org/", "https://carillon.example.org"),
        ("HTTPS://Carillon.Example.ORG:8443/", "https://carillon.example.org:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_the_address_of_the_console_is_a_host_and_nothing_behind_it(
    tmp_path: Path, value: str, kept: str
) -> None:
    assert read(tmp_path, BASE_URL=value).base_url == kept


def test_a_path_in_the_address_of_the_console_is_refused_by_name(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match="a host of its own, not a path"):
        read(tmp_path, BASE_URL="https://example.org/carillon/")


def test_an_address_of_ipv6_to_listen_on_is_the_usual_one_in_brackets(
    tmp_path: Path,
) -> None:
    assert read(tmp_path, WEB_HOST="::1", PORT="81").base_url == "http://[::1]:81"
