"""The Label Studio plugin: a Django settings module, no fork, no patch (design, section 5).

Start Label Studio with `DJANGO_SETTINGS_MODULE=label_config.studio.settings`, or run `convolabel studio`.
"""
