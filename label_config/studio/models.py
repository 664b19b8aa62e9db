"""What the plugin stores beside Label Studio's own tables. Labels are not here: their only home is Label Studio."""

from django.conf import settings
from django.db import models


class StudyProject(models.Model):
    """The study of a Label Studio project: the study file with its codebook, as the manager sent it."""

    project = models.OneToOneField("projects.Project", on_delete=models.CASCADE, primary_key=True, related_name="+")
    study = models.JSONField()
    updated_at = models.DateTimeField(auto_now=True)


class StudyRater(models.Model):
    study = models.ForeignKey(StudyProject, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="convolabel_one_rater")]


class StudyManager(models.Model):
    study = models.ForeignKey(StudyProject, on_delete=models.CASCADE, related_name="managers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="convolabel_one_manager")]


class SeenMessages(models.Model):
    """How many messages of a task a rater has been shown: what was seen stays seen."""

    task = models.ForeignKey("tasks.Task", on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    count = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "user"], name="convolabel_one_seen")]


class UnitLog(models.Model):
    """The log row of design section 8: one per rater, conversation and unit."""

    task = models.ForeignKey("tasks.Task", on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    span_id = models.CharField(max_length=64)
    rev = models.PositiveIntegerField()

    arm = models.CharField(max_length=8, blank=True)
    """`shown`, `control` or `none` (failed, abstained, late); empty when no suggestion was asked for."""
    suggestions = models.JSONField(default=list)
    """What the rater could see, as served."""
    withheld = models.JSONField(default=list)
    """What a control unit would have shown."""
    model = models.CharField(max_length=200, blank=True)
    prompt_version = models.CharField(max_length=64, blank=True)
    shown = models.BooleanField(null=True)
    """Whether a suggestion was on screen before the first decision; null until there is one."""
    accepted = models.BooleanField(null=True)

    first_labels = models.JSONField(null=True)
    labels = models.JSONField(default=dict)
    first_ms = models.PositiveIntegerField(null=True)
    later_ms = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(null=True)
    """The first decision; null before it."""
    updated_at = models.DateTimeField(auto_now=True)

    version = models.PositiveIntegerField(default=0)
    """Writes taken so far."""
    client = models.CharField(max_length=64, blank=True)
    seq = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "user", "span_id", "rev"], name="convolabel_one_log")]
