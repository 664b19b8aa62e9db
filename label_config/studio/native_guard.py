"""Native saves that name units which do not exist are refused, whoever sends them."""

from typing import Any

from django.db.models.signals import pre_save
from rest_framework.exceptions import ValidationError

from convolabel.task_data import is_task_data
from label_config.studio import labelstudio


def connect() -> None:
    for model in (labelstudio.Annotation, labelstudio.AnnotationDraft):
        pre_save.connect(_refuse_unknown_units, sender=model, dispatch_uid=f"convolabel-{model.__name__}")


def _refuse_unknown_units(sender: Any, instance: Any, **_: Any) -> None:
    data = instance.task.data if instance.task_id else None
    if not is_task_data(data) or not isinstance(instance.result, list):
        return
    known = {span["span_id"] for span in data["spans"]}
    unknown = {str(result.get("id")) for result in instance.result if isinstance(result, dict)} - known
    if unknown:
        raise ValidationError(
            f"These results belong to units that this conversation does not have (any more): "
            f"{', '.join(sorted(unknown)[:5])}; reload the page."
        )
