#!/bin/sh
# The browser tests need Chromium: found on the PATH, or installed where that takes no password.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ] && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing Chromium for the browser tests ..."
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-color-emoji >/dev/null && exit 0
fi
echo "The browser tests need Chromium: install it (Debian, Ubuntu: sudo apt-get install chromium) and run again." >&2
exit 1
