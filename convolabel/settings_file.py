"""YAML files that people write (codebook, study): every fault a sentence, unknown keys with the nearest known one."""

import difflib
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from convolabel.errors import InputError

Model = TypeVar("Model", bound=BaseModel)


def read_yaml(path: Path) -> Any:
    """The parsed document. Raises `InputError` when it cannot be read or is not YAML."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}; check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"Cannot read {path}: it is not UTF-8; save it as UTF-8 and try again.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InputError(f"{path} is not valid YAML{where}: {getattr(error, 'problem', error)}.") from None


def validate(model: type[Model], document: object, source: str) -> Model:
    """`document` as `model`. Raises `InputError` with every fault, one sentence each."""
    if not isinstance(document, dict):
        found = type(document).__name__
        raise InputError(f"{source} must hold `key: value` lines, found {found}; see docs/manager.md.")
    try:
        return model.model_validate(document)
    except ValidationError as error:
        details = without_knock_on(error.errors())
        raise InputError("\n".join(_sentence(model, detail, source) for detail in details)) from None


def without_knock_on(details: list[ErrorDetails]) -> list[ErrorDetails]:
    """pydantic also calls a list too short when one of its items is faulty; only the item's fault helps."""
    places = [detail["loc"] for detail in details]
    return [
        detail
        for detail in details
        if detail["type"] != "too_short"
        or not any(place[:-1][: len(detail["loc"])] == detail["loc"] for place in places)
    ]


def _sentence(model: type[BaseModel], detail: Any, source: str) -> str:
    *parents, key = detail["loc"] or ("",)
    path = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        known = sorted(_model_at(model, parents).model_fields)
        near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"known here: {', '.join(known)}."
        return f"{source}: unknown key `{path}`; {hint}"
    if detail["type"] == "missing":
        return f"{source}: the key `{path}` is missing."
    message = detail["msg"].removeprefix("Value error, ")
    return f"{source}: {f'`{path}`: ' if path else ''}{message}."


def _model_at(model: type[BaseModel], loc: list[int | str]) -> type[BaseModel]:
    """The model that the location `loc` inside `model` is about."""
    for key in loc:
        field = model.model_fields.get(str(key))
        inner = _models_in(field.annotation) if field is not None else []
        if inner:
            model = inner[0]
    return model


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models_in(argument)]
