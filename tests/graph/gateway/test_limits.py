import json

from graph.gateway.limits import result_text, rounds_over


def test_a_result_is_its_text_and_its_data_as_compact_json() -> None:
    assert (
        result_text("One item.", {"items": [{"name": "育儿假"}]}, 1_000) == 'One item.\n{"items":[{"name":"育儿假"}]}'
    )
    assert result_text("Fine.", None, 1_000) == "Fine."


def test_a_long_text_is_cut_inside_valid_json_with_the_place_to_go_on_from() -> None:
    text = result_text("It:", {"text": "a" * 5_000, "start": 100, "total_characters": 9_000}, 1_000)
    data = json.loads(text.split("\n")[1])
    assert len(data["text"]) < 1_000
    assert data["truncated"] is True
    assert data["end"] == 100 + len(data["text"])
    assert f"start={data['end']}" in text


def test_anything_else_is_cut_at_its_end_with_a_pointer() -> None:
    text = result_text("Items:", {"items": ["x" * 100] * 100}, 1_000)
    assert len(text) < 1_200
    assert "1000 of" in text
    assert "cursor" in text
    assert len(result_text("y" * 5_000, None, 1_000)) < 1_200


def test_the_end_of_the_rounds_is_said_in_both_languages() -> None:
    assert "20 rounds" in rounds_over(20, "en")
    assert "20 轮" in rounds_over(20, "zh")
