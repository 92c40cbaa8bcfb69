from typing import Any

from graph.state import active_agent, current_step, merge_turn, new_turn


def test_a_turn_adds_up_what_its_nodes_tell_in_any_order() -> None:
    first: Any = {"changes": [{"change_id": 1}], "written": ["a"], "usage": {"input_tokens": 2}}
    second: Any = {"tainted": True, "written": ["b"], "usage": {"input_tokens": 3, "output_tokens": 1}}
    turn = merge_turn(merge_turn(new_turn("r", "zh"), first), second)
    assert turn == {
        "run_id": "r",
        "language": "zh",
        "tainted": True,
        "changes": [{"change_id": 1}],
        "usage": {"input_tokens": 5, "output_tokens": 1},
        "written": ["a", "b"],
    }
    assert merge_turn(turn, {"tainted": False})["tainted"] is True


def test_a_run_id_begins_a_new_turn() -> None:
    old: Any = {**new_turn("r", "zh"), "tainted": True, "changes": [1], "written": ["a"]}
    assert merge_turn(old, {"run_id": "s", "language": "en", "written": ["b"]}) == {
        **new_turn("s", "en"),
        "written": ["b"],
    }


def test_the_running_step_names_the_specialist_else_the_route_does() -> None:
    step: Any = {"id": "1", "agent": "document_agent", "status": "in-progress"}
    done: Any = {**step, "status": "completed"}
    route: Any = {"agent": "search_agent"}
    assert (
        active_agent({"messages": [], "route": route, "plan": {"plan_id": "p", "steps": [done, step]}})
        == "document_agent"
    )
    assert active_agent({"messages": [], "route": route, "plan": {"plan_id": "p", "steps": [done]}}) == "search_agent"
    assert active_agent({"messages": []}) == "drive_agent"
    assert current_step({"messages": []}) is None
