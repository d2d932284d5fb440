#!/bin/sh
# Puts Z3 into the ignored folder .z3/: lib/, include/, bin/z3 and VERSION. Does nothing when the
# pinned version is there. With DEOGEN_Z3=system it links the Z3 of this machine in there instead.
set -eu
cd "$(dirname "$0")/.."
me=fetch-z3 pin=scripts/z3.txt
way_out="Or build with a Z3 of your own, 4.13.3 or later: DEOGEN_Z3=system."
. scripts/wheel.sh

# Prints the folder of this machine's libz3, or nothing.
system_lib() {
    for dir in "${Z3_LIBRARY_PATH_OVERRIDE:-}" "$(pkg-config --variable=libdir z3 2>/dev/null || true)" \
        /usr/local/lib /opt/homebrew/lib /usr/lib/"$(uname -m)"-linux-gnu /usr/lib64 /usr/lib; do
        case $dir in "" | "$PWD"/.z3/lib) continue ;; esac
        if [ -e "$dir/libz3.so" ] || [ -e "$dir/libz3.dylib" ]; then
            echo "$dir"
            return
        fi
    done
}

# Prints the version that the header beside the library states, or nothing.
system_version() {
    for dir in "$1/../include" "$1/../../include" "$(pkg-config --variable=includedir z3 2>/dev/null || true)"; do
        if [ -e "$dir/z3.h" ] && [ -e "$dir/z3_version.h" ]; then
            sed -n 's/^#define Z3_M[AI][JN]OR_VERSION *//p; s/^#define Z3_BUILD_NUMBER *//p' \
                "$dir/z3_version.h" | tr -d ' \r' | paste -s -d . -
            return
        fi
    done
}

# True when version $1 is at least version $2 (three numbers each).
at_least() {
    printf '%s\n%s\n' "$2" "$1" | sort -c -t . -k 1,1n -k 2,2n -k 3,3n 2>/dev/null
}

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

case ${DEOGEN_Z3:-wheel} in
system)
    lib=$(system_lib)
    [ -n "$lib" ] || fail "DEOGEN_Z3=system, but no libz3 was found. Install Z3 4.13.3 or later with its" \
        "headers, or set Z3_LIBRARY_PATH_OVERRIDE to the folder of its libz3; or unset DEOGEN_Z3 to" \
        "fetch the pinned Z3."
    version=$(system_version "$lib")
    [ -n "$version" ] || fail "there is a libz3 in $lib, but no z3.h with z3_version.h beside it, so its" \
        "version is unknown. Install Z3's headers (libz3-dev, z3-devel); or unset DEOGEN_Z3 to fetch" \
        "the pinned Z3."
    at_least "$version" 4.13.3 || fail "the Z3 in $lib is $version, older than 4.13.3, which the z3 crate" \
        "needs. Set Z3_LIBRARY_PATH_OVERRIDE to the folder of a newer libz3; or unset DEOGEN_Z3 to fetch" \
        "the pinned Z3."
    stamp="$version system $lib"
    if [ "$(cat .z3/VERSION 2>/dev/null)" != "$stamp" ]; then
        rm -rf .z3
        mkdir -p .z3/lib
        ln -s "$lib"/libz3*.so* "$lib"/libz3*.dylib .z3/lib/ 2>/dev/null || true
        rm -f '.z3/lib/libz3*.so*' '.z3/lib/libz3*.dylib'
        echo "$stamp" >.z3/VERSION
        say "linked Z3 $version of $lib; make does the rest, and for plain cargo:"
        say "    export Z3_SYS_Z3_VERSION=$version"
    fi
    exit 0
    ;;
wheel) ;;
*) fail "DEOGEN_Z3 is '$DEOGEN_Z3'; it may be 'system' or unset" ;;
esac

version=$(pinned)
if [ "$(cat .z3/VERSION 2>/dev/null)" = "$version" ]; then
    exit 0
fi
case "$(uname -s) $(uname -m)" in
"Linux x86_64" | "Linux aarch64" | "Darwin x86_64" | "Darwin arm64") ;;
*) fail "there is no pinned wheel of Z3 for this platform ($(uname -s) $(uname -m)): there are some for" \
    "Linux (x86_64, aarch64; glibc) and macOS (x86_64, arm64). $way_out" ;;
esac
find_python
say "fetching Z3 $version"
work=$(mktemp -d .fetch.XXXXXX)
download "$work"
"$python" -m zipfile -e "$work"/z3_solver-*.whl "$work/wheel"
mkdir "$work/z3"
mv "$work/wheel/z3/lib" "$work/wheel/z3/include" "$work/wheel/z3_solver-$version.data/data/bin" "$work/z3/"
rm -f "$work"/z3/lib/*.dll
# The wheel holds the library twice; the name the linker looks for may as well be a link.
for lib in "$work"/z3/lib/libz3.so.*; do
    if [ -e "$lib" ]; then ln -sf "$(basename "$lib")" "$work/z3/lib/libz3.so"; fi
done
chmod +x "$work/z3/bin/z3"
echo "$version" >"$work/z3/VERSION"
put "$work/z3" .z3
