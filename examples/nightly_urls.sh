#!/bin/sh
# A crawler's nightly run over pages identified by their URL.
#
#   examples/nightly_urls.sh STORE CRAWL GONE OUT
#
# CRAWL   the pages fetched tonight: columns url and simhash (CSV, NDJSON or Parquet, also .gz or .zst)
# GONE    URLs that no longer exist, one on each line
# OUT     a directory for the results:
#   new.tsv       pages of CRAWL without a near-duplicate under another URL in STORE: fingerprint and URL
#   near.parquet  the others, each with its near-duplicates
#
# The script compares pages of one night with those of earlier nights only; `fpdedup pairs STORE` compares all pages.
#
# The first night creates STORE. MEMORY bounds the memory of every step.
set -eu

store=$1 crawl=$2 gone=$3 out=$4
memory=${MEMORY:-1GiB}
columns='--fingerprint-column simhash --id-column url'

mkdir -p "$out"
if [ ! -e "$store" ]; then
    # The index of ids finds pages by URL without reading the whole store.
    fpload --create --ids text --id-index --max-distance 3 "$store"
fi

# Removed pages must not be found. A warning names URLs that the store does not have.
fpload --remove --by-id --memory "$memory" "$store" "$gone"

# Compare tonight's pages with all others. Exit code 1 means that there are no results, 2 that the program failed.
# shellcheck disable=SC2086 # several words
fpquery --only new --not-self --memory "$memory" $columns --input "$crawl" --output "$out/new.tsv" "$store" || [ $? -eq 1 ]
# shellcheck disable=SC2086
fpquery --not-self --with-query-id --memory "$memory" $columns --input "$crawl" --output "$out/near.parquet" "$store" || [ $? -eq 1 ]

# Each page of tonight replaces the store's page with its URL.
# shellcheck disable=SC2086
fpload --replace --memory "$memory" $columns "$store" "$crawl"
