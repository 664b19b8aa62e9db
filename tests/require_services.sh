#!/bin/sh
# What the tests need beside Python packages: Chromium always; PostgreSQL where it can be installed without a password.
has_chromium() {
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null && return 0
    done
    [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}
has_postgres() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }

if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    missing=""
    has_chromium || missing="chromium fonts-noto-color-emoji"
    has_postgres || missing="$missing postgresql"
    if [ -n "$missing" ]; then
        echo "Installing for the tests: $missing ..."
        # shellcheck disable=SC2086 # a list of packages
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
    fi
fi
has_chromium && exit 0
echo "The browser tests need Chromium: install it (Debian, Ubuntu: sudo apt-get install chromium) and run again." >&2
exit 1
