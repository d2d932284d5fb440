#!/bin/sh
# Installs the pinned Python packages of scripts/ecosystem.txt into a throw-away environment and lets
# them load, validate and run a release: `make test-ecosystem`. Fails where they cannot be had.
#
#     sh scripts/test-ecosystem.sh [RELEASE]
#
# ECOSYSTEM=DIR keeps the environment there and uses it again.
set -eu
cd "$(dirname "$0")/.."
deogen=${DEOGEN:-$PWD/target/release/deogen}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
env=${ECOSYSTEM:-$work/env}
if [ ! -x "$env/bin/lm-eval" ]; then
    "${PYTHON:-python3}" -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check --requirement scripts/ecosystem.txt
fi
if [ $# -gt 0 ]; then
    release=$(cd "$1" && pwd)
else
    release=$work/release
    cp -R deogen.toml policies "$work"/
    "$deogen" -C "$work" release --quiet --out "$release" >/dev/null
fi
export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HOME="$work/hf" PYTHONDONTWRITEBYTECODE=1
"$env/bin/python" scripts/ecosystem.py "$deogen" "$release" "$work/out"
