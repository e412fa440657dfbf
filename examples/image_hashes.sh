#!/bin/sh
# Finds similar images by their 256-bit PDQ hashes.
#
#   examples/image_hashes.sh OUT HASHES NEW
#
# HASHES, NEW  columns image, hash (64 hexadecimal digits) and quality (0 to 100): CSV, NDJSON or Parquet, also .gz or
#              .zst. HASHES has the known images, NEW the query images
# OUT          a directory for the results:
#   pairs.parquet  all pairs of similar known images
#   labels.tsv     image and cluster, for clusters of several images
#   found.tsv      new images, similar known images, and their distance in bits
#
# PDQ's authors call two images with a quality of 50 or more similar if their hashes differ in at most 31 bits.
# MEMORY bounds the memory of every step.
set -eu

out=$1 hashes=$2 new=$3
memory=${MEMORY:-1GiB}
columns='--fingerprint-column hash --id-column image'

mkdir -p "$out"
# shellcheck disable=SC2086 # several words
fpload --create --width 256 --max-distance 31 --ids text --memory "$memory" $columns \
    --quality-column quality --min-quality 50 "$out/store" "$hashes"
fpdedup pairs --memory "$memory" --output "$out/pairs.parquet" "$out/store" || [ $? -eq 1 ]
fpdedup clusters --min-size 2 --memory "$memory" --output "$out/labels.tsv" "$out/store"
# shellcheck disable=SC2086
fpquery --with-query-id --memory "$memory" $columns --quality-column quality --min-quality 50 \
    --input "$new" --output "$out/found.tsv" "$out/store" || [ $? -eq 1 ]
