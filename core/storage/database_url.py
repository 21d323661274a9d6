"""Reads the database's URL: what is accepted, and what its driver is given."""

from typing import Any

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from core.errors import ConfigurationError
from core.runtime.hosts import check_host, check_port

_POSTGRESQL = frozenset({"postgresql", "postgres", "postgresql+asyncpg"})
_SQLITE = frozenset({"sqlite", "sqlite+aiosqlite"})
_POSTGRESQL_OPTIONS = frozenset({"host", "port", "ssl", "sslmode"})
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def driver_url(url: str) -> URL:
    """Return the URL as the driver takes it; its dialect is `sqlite` or `postgresql`.

    Raises:
        ConfigurationError: when it cannot be used; the sentence never shows the password.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        address = None
    if address is not None and address.drivername in _SQLITE:
        return _sqlite_url(address)
    if address is not None and address.drivername in _POSTGRESQL:
        return _postgresql_url(address)
    raise ConfigurationError(
        "GLOSSATOR_DATABASE__URL must look like sqlite:///folder/file.db "
        "or postgresql://user:password@host/name."
    )


def _sqlite_url(address: URL) -> URL:
    if address.host or address.query or address.database in {None, "", ":memory:"}:
        raise ConfigurationError(
            "A SQLite URL must name a file and nothing else: sqlite:///folder/file.db, "
            "or sqlite:////folder/file.db from the root."
        )
    return address.set(drivername="sqlite+aiosqlite")


def _postgresql_url(address: URL) -> URL:
    if not address.database:
        raise ConfigurationError("The PostgreSQL URL must name a database: postgresql://host/name.")
    if unknown := sorted(address.query.keys() - _POSTGRESQL_OPTIONS):
        raise ConfigurationError(
            f"The PostgreSQL URL has an option that is not supported: {', '.join(unknown)}. "
            f"Possible are {', '.join(sorted(_POSTGRESQL_OPTIONS))}."
        )
    query = {"ssl" if name == "sslmode" else name: value for name, value in address.query.items()}
    if "ssl" in query and str(query["ssl"]).replace("_", "-") not in _SSL_MODES:
        raise ConfigurationError(
            "The PostgreSQL URL asks for an encryption that is not known: "
            f"sslmode is one of {', '.join(_SSL_MODES)}."
        )
    driver = address.set(drivername="postgresql+asyncpg", query=query)
    _check_servers(driver)
    return driver


def _check_servers(driver: URL) -> None:
    """Raise ConfigurationError when a host or a port of the URL cannot be one."""
    try:
        _, options = driver.get_dialect()().create_connect_args(driver)
        for host in _listed(options.get("host")):
            if not host.startswith("/"):  # the folder of a socket
                check_host(host)
        for port in _listed(options.get("port")):
            check_port(port)
    except ArgumentError:
        reason = "each host takes one port, which is a number"
    except ValueError as error:
        reason = str(error)
    else:
        return
    raise ConfigurationError(f"The PostgreSQL URL cannot be used: {reason}.")


def _listed(value: Any) -> list[Any]:
    """Return what stands for one server, or for each of several, as a list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]
