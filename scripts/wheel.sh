# Sourced by fetch-z3.sh and fetch-cvc5.sh: a pinned wheel from the Python package index, checked
# against its hash. The caller sets: me (its name for messages), pin (its requirements file), way_out
# (what to do when no wheel can be had).

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# One paragraph, wrapped, then the exit status for "the environment is at fault".
fail() {
    printf '%s: %s\n' "$me" "$*" | fold -s -w 100 >&2
    exit 8
}

# The version that the requirements file pins.
pinned() { sed -n 's/^[a-z0-9-]*==\([0-9.]*\).*/\1/p' "$pin"; }

find_python() {
    for python in "${PYTHON:-}" python3 python; do
        if [ -n "$python" ] && "$python" -m pip --version >/dev/null 2>&1; then
            return 0
        fi
    done
    fail "no Python 3 with pip was found, and pip is what fetches the pinned wheel of $(basename "$pin" .txt)." \
        "Install both (python3 and python3-pip on Debian and Ubuntu, python on Homebrew)," \
        "or point PYTHON at an interpreter that has pip. $way_out"
}

# Downloads the wheel that $pin names for this platform into the folder $1.
download() {
    log="$1/pip.log"
    if PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip download --quiet --no-deps --require-hashes \
        --only-binary=:all: --retries 2 --dest "$1" --requirement "$pin" >"$log" 2>&1; then
        return 0
    fi
    name=$(basename "$pin" .txt)
    sed 's/^/    /' "$log" | tail -n 8 >&2
    if grep -q -i 'do not match the hashes' "$log"; then
        fail "the wheel that the package index served for $name $(pinned) is not the one pinned in" \
            "$pin: its hash differs, so it was not unpacked. A proxy or a mirror that alters files does" \
            "this, and so does a damaged pip cache: run \`$python -m pip cache purge\` and try again," \
            "or use another index. Don't edit the hash unless you know why it changed. $way_out"
    elif grep -q -i -E 'connection|resolution|timed out|unreachable|proxy|ssl|max retries' "$log"; then
        fail "the package index could not be reached, and $name $(pinned) is not here yet. Try again with" \
            "a network; behind a proxy or with a mirror, set up pip for it (HTTPS_PROXY, PIP_INDEX_URL)." \
            "Without a network, copy the wheel from a machine that has one (\`pip download\` with" \
            "$pin), and set PIP_NO_INDEX=1 and PIP_FIND_LINKS to its folder. $way_out"
    elif grep -q -i -E 'no matching distribution|could not find a version' "$log"; then
        fail "there is no wheel of $name $(pinned) for this platform ($(uname -s) $(uname -m), $("$python" --version 2>&1))." \
            "Those pinned are listed in $pin. If yours is among them, pip may be too old to see it:" \
            "\`$python -m pip install --upgrade pip\`. $way_out"
    fi
    fail "pip could not download $name $(pinned); its last lines are above. $way_out"
}

# Puts the folder $1 in the place of $2 by renaming; another fetch may have got there first.
put() {
    if [ -e "$2" ]; then
        mv "$2" "$work/old" 2>/dev/null || true
    fi
    "$python" -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$1" "$2" 2>/dev/null ||
        [ -e "$2/VERSION" ] || fail "$1 could not be renamed to $2"
}
