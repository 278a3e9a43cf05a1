"""Turns what a request gives into models, and every problem into a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from dashboard.api.errors import Problem
from dashboard.api.fields import nearest

Model = TypeVar("Model", bound=BaseModel)

#: More problems than this help nobody.
PROBLEMS_MAX: Final = 100

#: pydantic's word -> our code and sentence; ``{...}`` is filled from the error.
_SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("missing", "is missing."),
    "string_type": ("wrong_type", "must be text."),
    "int_type": ("wrong_type", "must be a whole number."),
    "int_parsing": ("wrong_type", "must be a whole number."),
    "int_from_float": ("wrong_type", "must be a whole number."),
    "bool_type": ("wrong_type", "must be true or false."),
    "model_type": ("wrong_type", "must be an object."),
    "dict_type": ("wrong_type", "must be an object."),
    "list_type": ("wrong_type", "must be a list."),
    "string_too_long": ("too_long", "may have at most {max_length} characters."),
    "string_too_short": ("too_short", "must have at least {min_length} characters."),
    "greater_than_equal": ("range", "must be {ge} or more."),
    "less_than_equal": ("range", "must be {le} or less."),
    "enum": ("unknown_value", "must be one of {expected}."),
    "literal_error": ("unknown_value", "must be one of {expected}."),
}


def checked(
    model: type[Model], values: object, *, within: str = ""
) -> tuple[Model | None, list[Problem]]:
    """Return the model, or every problem that ``values`` has.

    Args:
        within: where the values stand, such as ``events[3]``; part of the fields'
            names.
    """
    try:
        return model.model_validate(values), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=True)[:PROBLEMS_MAX]
        return None, [_problem(each, model, within) for each in found]


def _problem(error: Mapping[str, Any], model: type[BaseModel], within: str) -> Problem:
    field = _field(error["loc"], within)
    code, sentence = _words(error, model)
    return {
        "field": field,
        "code": code,
        "message": f"{field}: {sentence}".lstrip(": "),
    }


def _words(error: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, str]:
    kind, context = str(error["type"]), error.get("ctx", {})
    if kind == "extra_forbidden":
        known = [field.alias or name for name, field in model.model_fields.items()]
        hint = nearest(str(error["loc"][-1]), known)
        return "unknown_field", f"is not known here{hint or '.'}"
    if kind in _SENTENCES:
        code, sentence = _SENTENCES[kind]
        return code, sentence.format(**context)
    if "sentence" in context:  # one of dashboard.api.fields
        return kind, str(context["sentence"])
    return "invalid", f"{error['msg']}."


def _field(place: tuple[str | int, ...], within: str) -> str:
    name = within
    for step in place:
        if isinstance(step, int):
            name += f"[{step}]"
        else:
            name += f".{step[:80]}" if name else step[:80]
    return name
