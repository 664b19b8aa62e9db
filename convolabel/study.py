"""The study file: one YAML document that a study manager writes (docs/manager.md)."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from convolabel.codebook import SHIPPED, Codebook, read_codebook, shipped_codebook
from convolabel.conversation import PUBLIC_ASSISTANT
from convolabel.settings_file import read_yaml, validate

StudyName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")]
Email = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", to_lower=True, max_length=254)]
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Account(_Strict):
    email: Email
    name: str = ""


class LabelStudio(_Strict):
    url: Url = "http://127.0.0.1:8080"


class Visibility(_Strict):
    """What a rater may see. With `no_future_messages` messages appear turn by turn as units are decided."""

    no_future_messages: bool = True


class Copilot(_Strict):
    """The co-pilot. `url` is where Label Studio's server reaches the scoring server."""

    provider: Literal["local"] = "local"
    url: Url = "http://127.0.0.1:9090"
    model: str = "all-MiniLM-L6-v2"
    top_k: Annotated[int, Field(ge=1, le=2)] = 1
    control_share: Annotated[float, Field(ge=0, le=0.5)] = 0.2
    control_unit: Literal["rater_span", "span"] = "rater_span"
    wait_seconds: Annotated[float, Field(gt=0, le=10)] = 2.0


class Study(_Strict):
    """A study file with its codebook read in."""

    study: StudyName
    title: str = ""
    label_studio: LabelStudio = LabelStudio()
    codebook: Codebook
    raters: tuple[Account, ...] = ()
    managers: tuple[Email, ...] = ()
    raters_per_conversation: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    visibility: Visibility = Visibility()
    mediator_roles: tuple[str, ...] = (PUBLIC_ASSISTANT,)
    copilot: Copilot | None = None

    @model_validator(mode="after")
    def _distinct_people(self) -> Self:
        emails = [rater.email for rater in self.raters]
        for email in emails:
            if emails.count(email) > 1:
                raise ValueError(f"the rater {email} stands twice")
            if email in self.managers:
                raise ValueError(f"{email} is both rater and manager; a manager sees all votes, so use two accounts")
        return self

    @property
    def project_title(self) -> str:
        return self.title or self.study

    @property
    def votes_wanted(self) -> int:
        """Raters per conversation as a number (Label Studio's overlap), at least 1."""
        wanted = len(self.raters) if self.raters_per_conversation == "all" else self.raters_per_conversation
        return max(1, wanted)


def read_study(path: Path) -> Study:
    """Read a study file; `codebook` is a shipped codebook's name or a path relative to the file.

    Raises `InputError` naming every fault, unknown keys with the nearest known one.
    """
    document = read_yaml(path)
    if isinstance(document, dict) and isinstance(document.get("codebook"), str):
        document = {**document, "codebook": _codebook(document["codebook"], path)}
    return validate(Study, document, str(path))


def _codebook(said: str, study_path: Path) -> Any:
    codebook = shipped_codebook(said) if said in SHIPPED else read_codebook(study_path.parent / said)
    return codebook.model_dump(exclude_unset=True)
