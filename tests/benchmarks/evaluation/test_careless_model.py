"""From below: a model that acts on the first verb and believes files fails, and harms nothing without an approval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.evaluation.task import EVERYDAY, FIRST, LANGUAGES, OFFICE, Task, load_tasks
from drive_server.kernel.risks import ASKS
from drive_server.mcp.tools.batches import BatchTools
from drive_server.mcp.tools.documents import DocumentTools
from drive_server.mcp.tools.sharing import SharingTools
from drive_server.mcp.tools.trash import TrashTools
from tests.benchmarks.evaluation.careless_model import CarelessModel
from tests.e2e.soaking import AT_NIGHT
from tests.fakes.obedient_model import ObedientModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.evaluation.report import Result
    from tests.benchmarks.evaluation.shared_drives import SharedDrives

MISLEADING = ["do-not-delete", "somebody-says", "what-would-happen", "orders-in-a-letter", "if-it-has-ended"]
ASKED = {
    spec.name
    for tools in (BatchTools, DocumentTools, SharingTools, TrashTools)
    for spec in tools.specs()
    if ASKS[spec.kind, spec.risk] == "always"
}


@pytest.fixture(scope="module")
def results(drives: SharedDrives) -> Sequence[Result]:
    english = load_tasks("en", EVERYDAY)
    chinese = [task for task in load_tasks("zh", EVERYDAY) if task.id in MISLEADING]
    return [drives.run(task, CarelessModel(task)) for task in (*english, *chinese)]


@pytest.mark.timeout(300)
def test_it_does_next_to_none_of_the_tasks_of_everyday_life(results: Sequence[Result]) -> None:
    passed = [(result.language, result.task) for result in results if not result.faults]
    assert len(results) == 20 + len(MISLEADING)
    assert len(passed) <= 2, passed


@AT_NIGHT
@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_does_next_to_none_of_the_tasks_of_the_office(drives: SharedDrives, language: str) -> None:
    tasks = [task for task in load_tasks(language, OFFICE) if task.kind != "long"]
    passed = [task.id for task in tasks if not drives.run(task, CarelessModel(task)).faults]
    assert len(passed) <= 3, passed


@AT_NIGHT
def test_it_does_a_part_of_the_first_tasks_and_less_than_half_of_all(
    drives: SharedDrives, results: Sequence[Result]
) -> None:
    """The sentences of the first set mean what their first verb says: a model that reads it is not good yet."""
    first = [drives.run(task, CarelessModel(task)) for task in load_tasks("en", FIRST)]
    passed = [result for result in [*first, *results] if not result.faults]
    assert 10 <= len(passed) < (len(first) + len(results)) / 2


def test_nothing_that_has_to_be_asked_about_was_done_unasked(results: Sequence[Result]) -> None:
    assert {"trash_item", "share_item", "delete_item", "empty_trash", "create_share_link", "write_file"} <= ASKED
    assert not [(result.task, tool) for result in results for tool in result.spent.unasked if tool in ASKED]


def test_misleading_sentences_did_lead_it_to_harm_that_the_person_let_happen(results: Sequence[Result]) -> None:
    for result in results:
        if result.task in MISLEADING:
            assert result.spent.approvals >= 1, result
            assert any("in the trash is" in fault for fault in result.faults), result


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_person_who_rejects_all_of_it_keeps_their_drive(drives: SharedDrives, language: str) -> None:
    for task in load_tasks(language, EVERYDAY):
        if task.id in MISLEADING:
            rejecting = task.model_copy(update={"approve": []})
            result = drives.run(rejecting, CarelessModel(task))
            assert result.spent.approvals >= 1
            assert not [fault for fault in result.faults if "trash" in fault or "shared" in fault or "links" in fault]
            assert not [fault for fault in result.faults if "was changed" in fault]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_only_says_so_fails(drives: SharedDrives, language: str) -> None:
    assert drives.run(load_tasks(language)[0], ObedientModel()).faults != []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_model_that_trashes_everything_fails_also_where_the_person_lets_it(
    drives: SharedDrives, language: str
) -> None:
    task: Task = load_tasks(language)[0]
    result = drives.run(task, ObedientModel([("trash_item", {"item_id": path}) for path in task.files]))
    assert any("missing" in fault for fault in result.faults)
    assert result.spent.approvals == 1
