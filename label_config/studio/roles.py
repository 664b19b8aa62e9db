"""Who may do what. Label Studio's community edition has no roles, so the plugin decides by the study."""

from typing import Any

from label_config.studio import labelstudio
from label_config.studio.models import StudyManager, StudyProject, StudyRater

_CACHE = "_convolabel_is_manager"


def is_manager(user: Any) -> bool:
    """An administrator, the owner of an organisation, or a person a study names. Everybody else is held to rating."""
    known = getattr(user, _CACHE, None)
    if known is None:
        known = bool(
            user.is_superuser
            or StudyManager.objects.filter(user=user).exists()
            or labelstudio.owns_an_organization(user)
        )
        # users are loaded anew for every request, so this lasts no longer than one
        setattr(user, _CACHE, known)
    return known


def study_project_of_rater(user: Any, project_id: int) -> StudyProject | None:
    """The study of a project, when `user` is one of its raters."""
    membership = StudyRater.objects.filter(user=user, study_id=project_id).select_related("study").first()
    return membership.study if membership else None


def projects_of_rater(user: Any) -> list[int]:
    return list(StudyRater.objects.filter(user=user).order_by("study_id").values_list("study_id", flat=True))
