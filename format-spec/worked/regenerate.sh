#!/usr/bin/env bash
# Regenerates the worked bytes of the specification.
#
#   regenerate.sh BIN_DIR            refreshes the worked sections of ../*.md in place
#   regenerate.sh --check BIN_DIR    changes nothing; shows the differences, and exits with 1 if there are any
#
# BIN_DIR holds the built programs fpload and fpdump. Runs with tombstones and logs are those of golden files of the
# project's tests. A worked section lies between the lines "<!-- worked: NAME -->" and "<!-- /worked -->"; the calls
# below define each NAME.
set -euo pipefail
export LC_ALL=C NO_COLOR=1

check=false
if [[ ${1-} == --check ]]; then
    check=true
    shift
fi
if [[ $# -ne 1 || ! -x $1/fpload || ! -x $1/fpdump ]]; then
    echo "usage: regenerate.sh [--check] BIN_DIR   (the directory with fpload and fpdump)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
worked=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden=$worked/../../tests/golden/good
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
mkdir "$temporary/sections" "$temporary/stores"
cd "$temporary/stores"

# section NAME: makes standard input the section's text.
section() { cat > "$temporary/sections/$1"; }

# store NAME OPTIONS...: makes the store NAME from NAME.hex, and sections with the command, every byte, and all records.
store() {
    local name=$1
    shift
    cp "$worked/$name.hex" .
    "$bin/fpload" --quiet --create "$@" "$name" "$name.hex"
    echo "fpload --create $* $name $name.hex" | section "$name-command"
    "$bin/fpdump" hex "$name" | section "$name-store"
    "$bin/fpdump" scan "$name" | section "$name-records"
}

# fields FILE FIRST LAST: prints a file's fields from the first name that matches FIRST to the next that matches LAST.
fields() {
    "$bin/fpdump" hex "$1" | awk -v first="$2" -v last="$3" '
        { name = substr($0, 60) }
        name != "" && closing { exit }
        !on && name ~ first { on = 1 }
        on { print; if (name ~ last) closing = 1 }'
}

# plan DESIGN: makes a section with the tables of a design.
plan() {
    "$bin/fpload" --quiet --create --plan "$1" "$1"
    "$bin/fpdump" plan "$1" | section "plan-$1"
}

store xor --codec xor --plan tables-1 --block-size 128
store adaptive --plan tables-2
store blocks --plan tables-1 --block-size 128
store wide --width 128 --ids none --hasher demo/1 --plan tables-2 --block-size 128

# A key index: the records are segment 1, the keys segment 2.
cp "$worked/keys.ndjson" .
options="--kind keys --key-bits 16 --sketch 16 --block-size 128"
# shellcheck disable=SC2086
"$bin/fpload" --quiet --create $options keys keys.ndjson
echo "fpload --create $options keys keys.ndjson" | section keys-command
section keys-input < keys.ndjson
"$bin/fpdump" scan keys/00000001.segment | section keys-records
"$bin/fpdump" hex keys/00000002.segment | section keys-segment

# Frequent keys.
cp "$worked/frequent.ndjson" .
"$bin/fpload" --quiet --create --kind keys --key-bits 16 frequent frequent.ndjson
echo "fpload --create --kind keys --key-bits 16 frequent frequent.ndjson" | section frequent-command
fields frequent/00000002.segment '^records:' '^checksum' | section frequent-rows

segment=00000001.segment
fields adaptive/MANIFEST '^magic' '^checksum' | section manifest
fields adaptive/MANIFEST '^width' '^hasher length' | section parameters
fields wide/MANIFEST '^width' '^hasher$|^hasher:' | section wide-parameters
fields adaptive/$segment '^magic' '^checksum' | section header
fields adaptive/$segment '^width' '^magic' | section footer
fields blocks/$segment '^table 0 block 0:' '^checksum' | section page
fields blocks/$segment '^blocks in chunk' '^checksum' | section index
fields wide/$segment '^table 0 block 0:' '^checksum' | section rows
fields wide/$segment '^blocks in chunk' '^checksum' | section rows-index
fields wide/$segment '^table 1 block 0:' '^table 1 block 0:' | section narrow-block
fields wide/$segment '^records' '^checksum' | section counts
fields xor/$segment '^code lengths' '^checksum' | section codes
fields adaptive/$segment '^length of the flips code' '^checksum' | section flips-code
fields xor/$segment '^table 0 block 0:' '^table 0 block 0:' | section xor-block
fields adaptive/$segment '^table 0 block 0:' '^table 0 block 0:' | section flips-block
fields blocks/$segment '^table 0 block 1:' '^table 0 block 1:' | section gap-block
fields adaptive/$segment '^records' '^checksum' | section ids
fields adaptive/$segment '^fingerprints that begin' '^checksum' | section id-index
"$bin/fpdump" hex "$golden/texts/MANIFEST" | section manifest-of-runs
"$bin/fpdump" scan "$golden/texts/00000004.segment" | section run-records
"$bin/fpdump" scan "$golden/texts/00000005.segment" | section run-id-index
log=$golden/log/00000001.wal
fields "$log" '^magic' '^checksum' | section log-header
fields "$log" '^length' '^padding' | section log-frame
"$bin/fpdump" hex "$log" | awk '
    { name = substr($0, 60) }
    name ~ /^length:/ { frames++ }
    name ~ /^room/ { exit }
    frames == 2' | section log-next-frame
for design in tables-2 tables-3 choose-2-of-5 nested-4x4; do
    plan "$design"
done

# Every section between its markers; the text around stays as it is.
status=0
for document in "$worked"/../*.md; do
    awk -v sections="$temporary/sections" -v document="${document##*/}" '
        function fail(message) {
            print document ":" NR ": " message > "/dev/stderr"
            failed = 1
            exit 1
        }
        $0 == "<!-- /worked -->" { if (!inside) fail("a worked section ends that has not begun"); inside = 0 }
        !inside { print }
        /^<!-- worked: [a-z0-9-]+ -->$/ {
            if (inside) fail("a worked section begins within another")
            inside = 1
            file = sections "/" $3
            lines = 0
            print "```text"
            while ((getline line < file) > 0) { print line; lines++ }
            close(file)
            if (lines == 0) fail("there is no worked section " $3)
            print "```"
        }
        END { if (inside && !failed) fail("a worked section does not end") }' "$document" > "$temporary/new.md"
    if ! cmp -s "$document" "$temporary/new.md"; then
        if $check; then
            status=1
            diff -u "$document" "$temporary/new.md" || true
        else
            cat "$temporary/new.md" > "$document"
            echo "refreshed ${document##*/}" >&2
        fi
    fi
done
exit $status
