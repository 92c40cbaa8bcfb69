"""The drive's queries for access on PostgreSQL, whose server these tests run."""

from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from drive_server.kernel.access import ALL_SCOPES, Principal
from drive_server.kernel.clock import utc_now
from drive_server.services.tree.grantees import GROUP
from drive_server.services.tree.nodes import locate_sync, shared_ids, visible_ids
from drive_server.storage.tables.base import Base, new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import GroupMemberRow, GroupRow, UserRow
from drive_server.storage.tables.sharing import ShareRow
from tests.api.storage.postgres_server import PostgresServer

TABLES = (UserRow, NodeRow, GroupRow, GroupMemberRow, ShareRow)


def test_what_is_shared_with_a_group_is_found_on_postgresql(postgres: PostgresServer) -> None:
    url = postgres.new_database().replace("postgresql://", "postgresql+psycopg://")
    engine, now = create_engine(url), utc_now()
    Base.metadata.create_all(engine, [row.metadata.tables[row.__tablename__] for row in TABLES])
    people = [UserRow(id=new_id(), email=f"{name}@example.com", root_id=new_id(), created_at=now) for name in "ab"]
    group = GroupRow(id=new_id(), name="Sales", name_key="sales", created_at=now)
    nodes = [_folder(people[0].id, name, number) for number, name in enumerate(("by email", "by group", "not at all"))]
    grantees = ("b@example.com", GROUP + group.id)
    shares = [
        ShareRow(node_id=node.id, email=email, role=number, created_at=now, created_by=people[0].id)
        for number, (node, email) in enumerate(zip(nodes, grantees, strict=False), 1)
    ]
    with Session(engine) as session:
        for rows in (people, [group], nodes, shares, [GroupMemberRow(group_id=group.id, user_id=people[1].id)]):
            session.add_all(rows)
            session.flush()
        caller = Principal(people[1].id, people[1].email, ALL_SCOPES, "token")
        ids = [node.id for node in nodes]
        found = [set(session.scalars(query(caller))) for query in (shared_ids, visible_ids)]
        roles = [int(locate_sync(session, caller, node_id).role) for node_id in ids[:2]]
    engine.dispose()
    assert found == [set(ids[:2])] * 2
    assert roles == [1, 2]


def _folder(owner_id: str, name: str, number: int) -> NodeRow:
    now = utc_now()
    return NodeRow(
        id=f"{number:032}", owner_id=owner_id, kind="folder", name=name, revision=1, created_at=now, updated_at=now
    )
