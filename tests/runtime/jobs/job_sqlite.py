"""Where SQLite keeps `Job`."""

from __future__ import annotations

from typing import Final

from deedbox import SqliteTable

CREATE_TABLE: Final = """\
create table if not exists "deedbox_job" (
  "id" text not null primary key,
  "rev" integer not null,
  "phase" text not null,
  "at" integer not null,
  "born" integer not null,
  "version" integer not null,
  "wake_at" integer,
  "parked" text,
  "doc" text not null
) strict, without rowid"""

CREATE_INDEX: Final = """\
create index if not exists "deedbox_job_wake" on "deedbox_job" ("wake_at")
  where "wake_at" is not null and "parked" is null"""

CREATE_VIEW: Final = """\
create view if not exists "job" as
select "id", "phase", json_extract("doc", '$.size') as "size" from "deedbox_job\""""

LOAD: Final = """\
select "id", "rev", "phase", "at", "born", "version", "wake_at", "parked", "doc"
from "deedbox_job" where "id" in (select value from json_each(?1)) order by "id\""""

INSERT: Final = """\
insert into "deedbox_job"
  ("id", "rev", "phase", "at", "born", "version", "wake_at", "parked", "doc")
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"""

UPDATE: Final = """\
update "deedbox_job" set "rev" = ?2, "phase" = ?3, "at" = ?4, "born" = ?5,
  "version" = ?6, "wake_at" = ?7, "parked" = ?8, "doc" = ?9
where "id" = ?1 and "rev" = ?10"""

DUE: Final = """\
select "id", "rev", "phase", "at", "born", "version", "wake_at", "parked", "doc"
from "deedbox_job" where "wake_at" <= ?1 and "parked" is null and "version" <= ?2
order by "wake_at", "id" limit ?3"""

PARK: Final = 'update "deedbox_job" set "parked" = ?2 where "id" = ?1'

REMOVE: Final = 'delete from "deedbox_job" where "id" = ?1 and "rev" = ?2'

PAGE: Final = """\
select "id", "rev", "phase", "at", "born", "version", "wake_at", "parked", "doc"
from "deedbox_job"
where "id" > ?1 and (?2 is null or "phase" = ?2) and (?3 is null or "wake_at" <= ?3)
order by "id" limit ?4"""

SOONEST: Final = """\
select "wake_at" from "deedbox_job"
where "wake_at" is not null and "parked" is null and "version" <= ?1
order by "wake_at" limit 1"""

table: Final = SqliteTable(
    create=(CREATE_TABLE, CREATE_INDEX, CREATE_VIEW),
    load=LOAD,
    insert=INSERT,
    update=UPDATE,
    due=DUE,
    park=PARK,
    remove=REMOVE,
    page=PAGE,
    soonest=SOONEST,
)
