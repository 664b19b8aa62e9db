import pytest

from convolabel import TaskData
from importers.conversations import _chunks
from importers.import_plan import Change, Plan, Standing, plan_import, standing
from tests.importers.two_unit_study import small_data


def stands(*conversations: TaskData, is_worked_on: bool = False) -> dict[str, Standing]:
    return {
        data.id: standing(number, data, is_worked_on=is_worked_on) for number, data in enumerate(conversations, start=1)
    }


def test_everything_is_new_in_an_empty_project() -> None:
    assert plan_import([small_data("x"), small_data("y")], {}) == Plan(create=["x", "y"])


def test_the_same_again_is_left_alone_even_when_worked_on() -> None:
    assert plan_import([small_data("x")], stands(small_data("x"), is_worked_on=True)) == Plan(unchanged=["x"])


def test_a_changed_text_is_taken_over_while_nobody_has_begun() -> None:
    changed = small_data("x", text="Gut 👍🏽 weiter so. Wie nun?")
    assert plan_import([changed], stands(small_data("x"))) == Plan(update=[Change("x", 1, units_changed=True)])


def test_a_changed_text_is_refused_once_anybody_has_worked_on_it() -> None:
    changed = small_data("x", text="Gut 👍🏽 weiter so. Wie nun?")
    plan = plan_import([changed], stands(small_data("x"), is_worked_on=True))
    assert (plan.update, [refused.item_id for refused in plan.refused]) == ([], ["x"])
    assert "raters have worked on it (task 1)" in plan.refused[0].reason


def test_a_new_label_is_taken_over_even_when_worked_on() -> None:
    plan = plan_import([small_data("x", label="New")], stands(small_data("x"), is_worked_on=True))
    assert plan == Plan(update=[Change("x", 1, units_changed=False)])


def test_key_order_in_label_studio_does_not_matter() -> None:
    document = small_data("x").model_dump(mode="json")
    turned = TaskData.model_validate(dict(reversed(document.items())))
    assert plan_import([small_data("x")], stands(turned)).unchanged == ["x"]


def resegmented() -> TaskData:
    """`x` after its second unit [18, 26) was split at 22."""
    first, second = small_data("x").spans
    halves = [second.model_copy(update={"span_id": f"x-2+{name}"}) for name in "ab"]
    left, right = halves[0].model_copy(update={"end": 22}), halves[1].model_copy(update={"start": 22})
    return small_data("x").model_copy(update={"spans": (first, left, right)})


def test_a_split_is_no_change_of_the_file_and_is_never_undone_by_an_import() -> None:
    assert plan_import([small_data("x")], stands(resegmented())) == Plan(unchanged=["x"])
    plan = plan_import([small_data("x", text="Gut 👍🏽 weiter so. Wie nun?")], stands(resegmented()))
    assert "split or merged" in plan.refused[0].reason


def test_a_span_id_of_another_conversation_is_refused_with_the_rule_and_the_place() -> None:
    stolen = small_data("y").model_copy(update={"spans": small_data("x").spans})
    plan = plan_import([stolen], stands(small_data("x")))
    assert plan.create == []
    assert plan.refused[0].reason.startswith("item y, message m2, span x-1: span_id_duplicate")
    assert "item x" in plan.refused[0].reason


def test_a_span_id_that_comes_twice_in_one_import_is_refused() -> None:
    stolen = small_data("y").model_copy(update={"spans": small_data("x").spans})
    plan = plan_import([small_data("x"), stolen], {})
    assert (plan.create, [refused.item_id for refused in plan.refused]) == (["x"], ["y"])


def test_an_item_id_that_comes_twice_is_created_once() -> None:
    plan = plan_import([small_data("x"), small_data("x")], {})
    assert (plan.create, [refused.item_id for refused in plan.refused]) == (["x"], ["x"])


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        ([], []),
        # 8 MiB a chunk: 3 + 4 fit, 3 + 4 + 5 do not; the 9 is alone, being too large for any
        ([3, 4, 5, 9, 1], [2, 1, 1, 1]),
    ],
)
def test_chunks_keep_to_the_bytes(sizes: list[int], runs: list[int]) -> None:
    tasks = [{"data": "x" * (size * 1024 * 1024)} for size in sizes]
    assert [len(chunk) for chunk in _chunks(tasks)] == runs


def test_chunks_keep_to_the_count() -> None:
    assert [len(chunk) for chunk in _chunks({"data": number} for number in range(250))] == [100, 100, 50]
