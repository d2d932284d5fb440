#!/bin/sh
# What takes long or needs a machine of one's own: many kills, long edit sequences, half a minute of
# quiet, a disk that is really full, a cache that is really read-only, a terminal that is looked at.
# Linux, as root (it mounts a small tmpfs), with tmux and setpriv. Fails where it cannot run.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
binary=${BINARY:-$PWD/target/release/deogen}

fail() {
    echo "test-system: $*" >&2
    exit 1
}
say() { echo "test-system: $*"; }

for tool in tmux setpriv mount; do
    command -v "$tool" >/dev/null || fail "\`$tool\` is missing"
done
[ "$(id -u)" = 0 ] || fail "a tmpfs can only be mounted by root"
[ -x "$binary" ] || fail "$binary is missing: \`make\` builds it"

work=$(mktemp -d)
tmux_socket=deogen-test-$$
cleanup() {
    tmux -L "$tmux_socket" kill-server 2>/dev/null || true
    umount "$work/small" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"

say "a disk that is full: every size of a small one until a build fits"
mkdir "$work/small"
size=16
full=0
"$binary" -q -C "$work" init plain
"$binary" -q -C "$work/plain" build
while :; do
    mount -t tmpfs -o "size=${size}k" tmpfs "$work/small"
    status=0
    "$binary" -q -C "$work/small" init p 2>"$work/said" || status=$?
    if [ "$status" = 0 ]; then
        "$binary" -q -C "$work/small/p" build 2>"$work/said" || status=$?
    fi
    if [ "$status" = 0 ]; then
        diff -r "$work/plain/dist" "$work/small/p/dist" || fail "other outputs on a small disk"
        umount "$work/small"
        break
    fi
    [ "$status" = 8 ] || fail "exit $status on a full disk of $size KiB: $(cat "$work/said")"
    grep -q "No space left" "$work/said" || fail "no clear message: $(cat "$work/said")"
    [ -z "$(find "$work/small" -name '.deogen-new-*')" ] || fail "a part of a file was left"
    full=$((full + 1))
    umount "$work/small"
    size=$((size + 16))
done
[ "$full" -ge 3 ] || fail "only $full disks were full"
say "  $full sizes were too small (exit 8), ${size} KiB are enough, same bytes"

say "a cache and outputs of somebody else"
"$binary" -q -C "$work" init theirs
chmod 777 "$work/theirs"
mkdir -m 755 "$work/theirs/cache"
setpriv --reuid 65534 --regid 65534 --clear-groups "$binary" -C "$work/theirs" build \
    >"$work/out" 2>"$work/said" || fail "a read-only cache stops a build: $(cat "$work/said")"
[ "$(grep -c 'results are not kept' "$work/said")" = 1 ] || fail "not one warning: $(cat "$work/said")"
diff -r "$work/plain/dist" "$work/theirs/dist" || fail "other outputs with a read-only cache"
say "  built with one warning, same bytes"
chmod 555 "$work/theirs/dist" "$work/theirs/dist/leave"
rm "$work/theirs/dist/leave/paid.jsonl"
chown -R 0:0 "$work/theirs/dist"
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups "$binary" -q -C "$work/theirs" build \
    2>"$work/said" || status=$?
[ "$status" = 8 ] || fail "exit $status with read-only outputs"
say "  read-only outputs: exit 8: $(head -1 "$work/said" | sed "s|$work|…|g")"

say "a terminal"
"$binary" -q -C "$work" init shown
screen() { tmux -L "$tmux_socket" capture-pane -p | sed '/^$/d'; }
await() {
    for _ in $(seq 200); do
        screen | grep -q "$1" && return 0
        sleep 0.1
    done
    fail "no \`$1\` on the screen: $(screen)"
}
tmux -L "$tmux_socket" new-session -d -x 80 -y 24 "'$binary' -C '$work/shown' watch"
await "waiting for a save"
sed -i 's/(= reason illness) has_note/(= reason illness)/' "$work/shown/policies/leave/policy.smt2"
await "with another answer"
await "waiting for a save"
screen
[ "$(screen | head -1)" = "-- saved --" ] || fail "the screen does not start with the save"
screen | grep -q "⠋" && fail "a bar is left"
sed -i 's/(assert (! (= paid_leave/(assert (! (= paid_leeve/' "$work/shown/policies/leave/policy.smt2"
await "did you mean \`paid_leave\`"
await "waiting for a save"
screen
tmux -L "$tmux_socket" send-keys C-c
for _ in $(seq 100); do
    tmux -L "$tmux_socket" has-session 2>/dev/null || break
    sleep 0.1
done
tmux -L "$tmux_socket" has-session 2>/dev/null && fail "Ctrl-C did not end watch"

say "kills, edits and quiet"
export DEOGEN_KILLS=100 DEOGEN_SEQUENCES=3 DEOGEN_EDITS=14 DEOGEN_IDLE=30
env ${WITH_Z3:-} "$cargo" test --release --test it -- durable:: rebuild:: watching::
say "all well"
