#!/bin/sh
# Puts the Python bindings of cvc5, a second solver for `deogen verify --solver cvc5`, into the ignored
# folder .cvc5/. Does nothing when the pinned version for this Python is there.
set -eu
cd "$(dirname "$0")/.."
me=fetch-cvc5 pin=scripts/cvc5.txt
way_out="cvc5 is optional: everything but \`verify --solver cvc5\` works without it."
. scripts/wheel.sh

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

find_python
version=$(pinned)
# Wheels of bindings are made for one version of Python each.
stamp="$version $("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')"
if [ "$(cat .cvc5/VERSION 2>/dev/null)" = "$stamp" ]; then
    exit 0
fi
say "fetching cvc5 $version"
work=$(mktemp -d .fetch.XXXXXX)
download "$work"
PIP_REQUIRE_VIRTUALENV=0 PIP_USER=0 "$python" -m pip install --quiet --no-deps --no-index --no-compile \
    --root-user-action=ignore --target "$work/cvc5" "$work"/cvc5-*.whl
echo "$stamp" >"$work/cvc5/VERSION"
put "$work/cvc5" .cvc5
