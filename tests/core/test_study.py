"""The study file: unknown keys at every level, people, and the codebook it names."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from convolabel.errors import InputError
from convolabel.study import Study, read_study


def document(**fields: Any) -> dict[str, Any]:
    return {"study": "pilot", "codebook": "vrm-intent"} | fields


def read(tmp_path: Path, said: object) -> Study:
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(said, allow_unicode=True), encoding="utf-8")
    return read_study(path)


def refusal(tmp_path: Path, said: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(tmp_path, said)
    return [line.removeprefix(f"{tmp_path / 'study.yaml'}: ") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"rater": []}, "unknown key `rater`; did you mean `raters`?"),
        ({"visibility": {"no_future_message": True}}, "unknown key `visibility.no_future_message`; did you mean "
                                                     "`no_future_messages`?"),
        ({"copilot": {"topk": 1}}, "unknown key `copilot.topk`; did you mean `top_k`?"),
        ({"raters": [{"email": "a@b.de", "nmae": "A"}]}, "unknown key `raters.0.nmae`; did you mean `name`?"),
        ({"label_studio": {"uri": "http://x"}}, "unknown key `label_studio.uri`; did you mean `url`?"),
        ({"copilot": {"zzzzzz": 1}}, "unknown key `copilot.zzzzzz`; known here: control_share, control_unit, model, "
                                     "provider, top_k, url, wait_seconds."),
        ({"raters": [{"email": "A@b.de"}, {"email": "a@B.de"}]}, "the rater a@b.de stands twice."),
        ({"raters": [{"email": "a@b.de"}], "managers": ["A@b.de"]},
         "a@b.de is both rater and manager; a manager sees all votes, so use two accounts."),
        ({"raters": [{"name": "A"}]}, "the key `raters.0.email` is missing."),
        ({"raters": [{"email": "nobody"}]}, "`raters.0.email`: String should match pattern"),
        ({"study": "Pilot 1"}, "`study`: String should match pattern"),
        ({"copilot": {"control_share": 0.6}}, "`copilot.control_share`: Input should be less than or equal to 0.5."),
        ({"copilot": {"top_k": 3}}, "`copilot.top_k`: Input should be less than or equal to 2."),
        ({"label_studio": {"url": "localhost:8080"}}, "`label_studio.url`: String should match pattern"),
    ],
)  # fmt: skip
def test_faults_are_named(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    (found,) = refusal(tmp_path, document(**fields))
    assert found.startswith(said)


def test_every_fault_comes_in_one_go(tmp_path: Path) -> None:
    found = refusal(tmp_path, document(rater=[], titel="x", copilot={"topk": 1, "control_share": 1}))
    assert len(found) == 4


def test_an_unknown_key_inside_a_codebook_written_in_place(tmp_path: Path) -> None:
    codebook = {"name": "c", "title": "C", "dimensions": [{"id": "d", "title": "D", "categorys": []}]}
    found = refusal(tmp_path, document(codebook=codebook))
    assert "unknown key `codebook.dimensions.0.categorys`; did you mean `categories`?" in found


def test_raters_per_conversation(tmp_path: Path) -> None:
    raters = [{"email": f"r{number}@b.de"} for number in range(3)]
    assert read(tmp_path, document(raters=raters)).votes_wanted == 3
    assert read(tmp_path, document(raters=raters, raters_per_conversation=2)).votes_wanted == 2
    assert read(tmp_path, document()).votes_wanted == 1
    for wrong in (0, "some"):
        assert all(
            "raters_per_conversation" in line for line in refusal(tmp_path, document(raters_per_conversation=wrong))
        )


def test_a_study_has_safe_defaults(tmp_path: Path) -> None:
    study = read(tmp_path, document())
    assert study.visibility.no_future_messages
    assert study.copilot is None
    assert study.mediator_roles == ("public assistant",)
    assert study.project_title == "pilot"
    assert read(tmp_path, document(title="Pilot")).project_title == "Pilot"
    assert read(tmp_path, document(copilot={})).copilot is not None


def test_the_codebook_is_shipped_beside_the_study_or_written_in_place(tmp_path: Path) -> None:
    book = {
        "name": "own",
        "title": "Own",
        "dimensions": [{"id": "d", "title": "D", "categories": [{"id": "A", "name": "Aa"}, {"id": "B", "name": "Bb"}]}],
    }
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(book), encoding="utf-8")
    shipped = read(tmp_path, document()).codebook
    beside = read(tmp_path, document(codebook="own.yaml")).codebook
    in_place = read(tmp_path, document(codebook=book)).codebook
    assert (shipped.name, beside.name) == ("vrm-intent", "own")
    assert beside.fingerprint == in_place.fingerprint
    (found,) = refusal(tmp_path, document(codebook="lost.yaml"))
    assert "lost.yaml: No such file or directory" in found
    assert refusal(tmp_path, {"study": "pilot"}) == ["the key `codebook` is missing."]


def test_a_stored_study_reads_back_the_same(tmp_path: Path) -> None:
    study = read(tmp_path, document(raters=[{"email": "r@b.de", "name": "Rä"}], copilot={"control_share": 0.5}))
    assert Study.model_validate_json(study.model_dump_json()) == study
