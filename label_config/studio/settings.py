"""Label Studio's settings with the plugin added."""

import os

# Nothing leaves the machine, and nobody signs up on their own, unless the deployment says otherwise.
for _name, _value in {
    "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
    "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
}.items():
    os.environ.setdefault(_name, _value)

# base first: Label Studio's own module re-enters the half-loaded settings and reads what base defines
from core.settings.base import *  # noqa: E402, F403
from label_studio.core.settings.label_studio import *  # noqa: E402, F403

# first, for Django takes a command from the first app that has it: `runserver` is the plugin's
INSTALLED_APPS = ["label_config.studio.apps.ConvolabelStudio", *INSTALLED_APPS]  # noqa: F405
_OWN_MIDDLEWARE = {"core.middleware.UpdateLastActivityMiddleware": "label_config.studio.middleware.LastActivity"}
MIDDLEWARE = [
    *(_OWN_MIDDLEWARE.get(name, name) for name in MIDDLEWARE),  # noqa: F405
    "label_config.studio.middleware.rater_access",
    "label_config.studio.middleware.page_injection",
]
ROOT_URLCONF = "label_config.studio.urls"
TASK_SERIALIZER = "label_config.studio.task_serializer.RedactingTaskSerializer"

if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":  # noqa: F405
    # select_for_update does nothing on SQLite: a decision takes the write lock when its transaction begins
    DATABASES["default"].setdefault("OPTIONS", {}).update(  # noqa: F405
        {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
    )
