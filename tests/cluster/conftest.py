"""A PostgreSQL server for the tests of crawls on many machines."""

from through_postgres import dsn as dsn
from through_postgres import postgres as postgres
