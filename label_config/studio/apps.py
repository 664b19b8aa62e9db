from django.apps import AppConfig


class ConvolabelStudio(AppConfig):
    name = "label_config.studio"
    label = "convolabel_studio"
    verbose_name = "convolabel"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from label_config.studio.native_guard import connect

        connect()
