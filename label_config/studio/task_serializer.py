"""Label Studio's hook for every representation of a task that goes to a browser (not for exports).

Label Studio loads this module in the middle of loading `tasks.serializers`, when most of it cannot be imported yet;
so what is needed to answer is imported when the first answer is made.
"""

from typing import Any

from rest_framework.serializers import ListSerializer
from tasks.serializers import BaseTaskSerializer


class RedactingTaskSerializer(BaseTaskSerializer):  # type: ignore[misc]
    """Cuts a task to what the signed-in rater may see. Rows of lists show nothing, so no query per row is needed."""

    def to_representation(self, instance: Any) -> Any:
        from label_config.studio.labelstudio import current_user
        from label_config.studio.roles import is_manager

        user = current_user()
        representation = super().to_representation(instance)
        if user is None or not user.is_authenticated or is_manager(user):
            return representation
        return _for_rater(representation, instance, user, in_list=isinstance(self.parent, ListSerializer))


def _for_rater(representation: dict[str, Any], task: Any, user: Any, *, in_list: bool) -> dict[str, Any]:
    from label_config.studio.rater_conversation import load
    from label_config.studio.redaction import hide_task, redact_task
    from label_config.studio.refusals import RefusedError

    if in_list:
        return hide_task(representation)
    try:
        conversation = load(task, user)
    except RefusedError:
        return hide_task(representation)
    return redact_task(representation, conversation.data.up_to(conversation.visible), user.pk, user.email)
