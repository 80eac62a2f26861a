"""The shared tables on SQLite, and every statement on them, as text.

The statements on a machine's own table come with the machine.  All parameters are bound;
what is put into a text is a constant of ours.
"""

from __future__ import annotations

from typing import Final

from ..operations import COMPANY, DIED

ONCE_MORE: Final = "tries = max(0, min(tries, 999999999)) + 1"
"""A number that somebody wrote into a row holds up no other."""
SUSPECT: Final = f"error = '{DIED}' and tries >= {COMPANY}"

SHARED: Final = (
    """\
create table if not exists deedbox_meta (
  name text not null primary key,
  value integer not null
) strict, without rowid""",
    """\
create table if not exists deedbox_session (
  epoch integer not null primary key,
  batch integer not null,
  lease_until integer,
  host text not null
) strict""",
    """\
create table if not exists deedbox_outbox (
  machine text not null,
  id text not null,
  ticket integer not null,
  command text not null,
  key text not null,
  claim integer,
  next_at integer,
  tries integer not null,
  started integer not null,
  parked text,
  error text,
  version integer not null,
  doc text not null,
  primary key (machine, id, ticket)
) strict, without rowid""",
    """\
create index if not exists deedbox_outbox_next on deedbox_outbox (next_at)
  where claim is null and parked is null""",
    """\
create index if not exists deedbox_outbox_due
  on deedbox_outbox (machine, command, next_at)
  where claim is null and parked is null""",
    f"""\
create index if not exists deedbox_outbox_suspect on deedbox_outbox (next_at)
  where claim is null and parked is null and {SUSPECT}""",
    """\
create table if not exists deedbox_inbox (
  machine text not null,
  id text not null,
  message_id text not null,
  hash text not null,
  at integer not null,
  answer text not null,
  primary key (machine, id, message_id)
) strict, without rowid""",
    """\
create table if not exists deedbox_journal (
  machine text not null,
  id text not null,
  rev integer not null,
  at integer not null,
  kind text not null check (kind in ('step', 'base')),
  version integer not null,
  doc text not null,
  primary key (machine, id, rev, kind)
) strict, without rowid""",
    "insert or ignore into deedbox_meta values ('epoch', 0)",
)

SCHEMA_NUMBER: Final = "insert or ignore into deedbox_meta values ('schema', ?)"
MACHINE_VERSION: Final = "select value from deedbox_meta where name = ?"
NEW_MACHINE_VERSION: Final = "insert or replace into deedbox_meta values (?, ?)"
FENCE: Final = """\
update deedbox_session set batch = ?2 + 1, lease_until = ?3
where epoch = ?1 and batch = ?2"""
REST: Final = "update deedbox_session set lease_until = null where epoch = ?"
NEW_EPOCH: Final = """\
update deedbox_meta set value = value + 1 where name = 'epoch' returning value"""
ENTER: Final = "insert into deedbox_session values (?, 0, null, ?)"
TAKE: Final = """\
delete from deedbox_outbox where machine = ? and id = ? and ticket = ? and claim = ?"""
SEEN: Final = """\
select i.* from json_each(?) m cross join deedbox_inbox i
where i.machine = json_extract(m.value, '$[0]')
  and i.id = json_extract(m.value, '$[1]')
  and i.message_id = json_extract(m.value, '$[2]')"""
OWING: Final = """\
select distinct id from deedbox_outbox
where machine = ?1 and id in (select value from json_each(?2))"""
BEHIND: Final = """\
select distinct o.machine, o.id, o.command
from json_each(?) n cross join deedbox_outbox o
where o.machine = json_extract(n.value, '$[0]')
  and o.id = json_extract(n.value, '$[1]')
  and o.command = json_extract(n.value, '$[2]')"""
FORGET_JOURNAL: Final = "delete from deedbox_journal where machine = ? and id = ?"
FORGET_INBOX: Final = "delete from deedbox_inbox where machine = ? and id = ?"
GONE: Final = "select value from deedbox_meta where name = 'gone ' || ?"
NOW_GONE: Final = """\
insert into deedbox_meta values ('gone ' || ?1, ?2)
on conflict (name) do update set value = max(value, excluded.value)"""
WITHDRAW: Final = """\
delete from deedbox_outbox where machine = ? and id = ? and ticket = ?"""
OWE: Final = "insert into deedbox_outbox values (?,?,?,?,?,?,?,?,?,?,?,?,?)"
JOURNAL: Final = "insert into deedbox_journal values (?,?,?,?,?,?,?)"
TRIM_JOURNAL: Final = """\
delete from deedbox_journal where machine = ? and id = ? and rev < ?"""
TRIM_INBOX: Final = """\
delete from deedbox_inbox where machine = ? and id = ? and at < ?"""
REMEMBER: Final = "insert into deedbox_inbox values (?,?,?,?,?,?)"
WAITS: Final = """\
o.claim is null and o.parked is null and o.started = 0 and not exists (
    select 1 from deedbox_outbox p
    where p.machine = o.machine and p.id = o.id and p.ticket < o.ticket
      and p.command = o.command)"""
# S608: the only texts that are put in are the constants above.
CLAIM: Final = f"""\
update deedbox_outbox set claim = ?1, next_at = null, {ONCE_MORE}
where (machine, id, ticket) in (
  select o.machine, o.id, o.ticket from deedbox_outbox o
  where {WAITS} and o.next_at <= ?2 and o.machine = ?3 and o.command = ?4
    and o.version <= ?5 and (error is null or not ({SUSPECT}))
  order by o.next_at, o.machine, o.id, o.ticket limit ?6)
returning *"""  # noqa: S608  as said
QUARANTINE: Final = f"""\
update deedbox_outbox set claim = ?1, next_at = null, {ONCE_MORE}
where (machine, id, ticket) in (
  select machine, id, ticket from (
    select o.* from deedbox_outbox o
    where {WAITS} and o.next_at <= ?2 and {SUSPECT}
      and exists (select 1 from json_each(?4) w
        where o.machine = json_extract(w.value, '$[0]')
          and o.command = json_extract(w.value, '$[1]')
          and o.version <= json_extract(w.value, '$[2]'))
    order by o.next_at, o.machine, o.id, o.ticket limit 1)
  where tries < ?3)
returning *"""  # noqa: S608  as said
STILL: Final = """\
select o.machine, o.id, o.ticket
from json_each(?1) n cross join deedbox_outbox o
where o.machine = json_extract(n.value, '$[0]')
  and o.id = json_extract(n.value, '$[1]')
  and o.ticket = json_extract(n.value, '$[2]') and o.claim = ?2"""
MARK: Final = """\
update deedbox_outbox set started = 1
where machine = ? and id = ? and ticket = ? and claim = ?"""
POSTPONE: Final = """\
update deedbox_outbox set claim = null, error = ?, next_at = ?, parked = ?
where machine = ? and id = ? and ticket = ? and claim = ?"""
REDRIVE: Final = """\
update deedbox_outbox set parked = null, tries = 0, next_at = ?3
where machine = ?1 and id = ?2 and parked is not null"""
DEAD: Final = """\
delete from deedbox_session where epoch in (select value from json_each(?))"""
FREE: Final = f"""\
update deedbox_outbox set claim = null, next_at = ?2, error = '{DIED}',
  parked = case
    when error = '{DIED}' and tries > {COMPANY} and tries >= ?3 and started = 0
      then 'no answer in ' || tries || ' deliveries' else parked end
where claim in (select value from json_each(?1))"""  # noqa: S608  as said
RELEASE: Final = """\
update deedbox_outbox set claim = null, next_at = ?2, tries = max(tries - 1, 0)
where claim = ?1"""
NEXT: Final = f"""\
select o.next_at from deedbox_outbox o where {WAITS} and o.next_at > ?1
  and o.version <= (select json_extract(m.value, '$[1]') from json_each(?2) m
                    where json_extract(m.value, '$[0]') = o.machine)
order by o.next_at limit 1"""  # noqa: S608  as above
OWED: Final = (
    "select * from deedbox_outbox where machine = ? and id = ? order by ticket"
)
HISTORY: Final = """\
select * from deedbox_journal where machine = ? and id = ? order by rev, kind"""
