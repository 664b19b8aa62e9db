"""A manager stores a study in its project and makes the raters' accounts."""

from typing import Any

from convolabel.study import Study
from label_config.studio import labelstudio
from label_config.studio.models import StudyManager, StudyProject, StudyRater
from label_config.studio.refusals import RefusedError
from label_config.studio.roles import is_manager


def store_study(project_id: int, study: Study, passwords: dict[str, str]) -> dict[str, Any]:
    """Store `study`, make missing accounts, and make its people raters and managers; all of it or nothing.

    Raises `RefusedError` 404 for an unknown project, 400 `invalid` for a new rater without a password, a manager
    without an account, a rater who manages, or a manager who rates.
    """
    with labelstudio.writing():
        project = labelstudio.Project.objects.filter(pk=project_id).first()
        if project is None:
            raise RefusedError(404, "not_found", f"There is no project {project_id} in this Label Studio.")
        stored, _ = StudyProject.objects.update_or_create(
            project=project, defaults={"study": study.model_dump(mode="json")}
        )
        managers = [_manager(email) for email in study.managers]
        StudyManager.objects.filter(study=stored).exclude(user__in=managers).delete()
        for user in managers:
            _refuse_rater_of_another_study(user, stored)
            StudyManager.objects.get_or_create(study=stored, user=user)
        raters = []
        for account in study.raters:
            password = passwords.get(account.email)
            if password is None and labelstudio.find_user(account.email) is None:
                raise RefusedError(400, "invalid", f"The rater {account.email} is new and needs a password.")
            user, created = labelstudio.add_account(account.email, account.name, password, project)
            if is_manager(user):
                raise RefusedError(
                    400,
                    "invalid",
                    f"{account.email} manages studies here and would see everything; give the rater another account.",
                )
            StudyRater.objects.get_or_create(study=stored, user=user)
            raters.append({"email": account.email, "id": user.pk, "created": created})
        StudyRater.objects.filter(study=stored).exclude(user_id__in=[rater["id"] for rater in raters]).delete()
    return {"raters": raters, "managers": [{"email": user.email, "id": user.pk} for user in managers]}


def _manager(email: str) -> Any:
    user = labelstudio.find_user(email)
    if user is None:
        raise RefusedError(
            400, "invalid", f"The manager {email} has no account in this Label Studio; invite them first."
        )
    return user


def _refuse_rater_of_another_study(user: Any, study: StudyProject) -> None:
    if StudyRater.objects.filter(user=user).exclude(study=study).exists():
        raise RefusedError(
            400,
            "invalid",
            f"{user.email} is a rater of another study and would see its votes; give the manager another account.",
        )
