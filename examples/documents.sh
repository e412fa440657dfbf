#!/bin/sh
# Removes near-duplicates from a corpus: reads documents, writes the ids of those to keep.
#
#   examples/documents.sh OUT DOCUMENTS...
#
# DOCUMENTS  columns id and text (NDJSON, JSON, CSV, TSV, Parquet, also .gz or .zst), directories of such files, or text
#            files
# OUT        a new directory for the results:
#   rejects.tsv           documents without a fingerprint: input, line or record, reason
#   fingerprints.parquet  fingerprint and id of every other document
#   labels.parquet        id and cluster of every other document
#   kept.parquet          ids of the documents to keep
#   removed.parquet       for every other document its keeper, cluster and distance from the keeper
#   report.txt            statistics of the clusters
#
# DISTANCE is the maximum distance of near-duplicates in bits; MEMORY bounds the memory of every step.
# DuckDB extracts the kept documents themselves:
#   COPY (FROM 'docs.parquet' SEMI JOIN 'OUT/kept.parquet' USING (id)) TO 'out.parquet'
set -eu

out=$1
shift
memory=${MEMORY:-1GiB} distance=${DISTANCE:-6}

mkdir "$out"
fphash simhash --memory "$memory" --on-error skip --rejects "$out/rejects.tsv" --output "$out/fingerprints.parquet" "$@"
fpload --create --max-distance "$distance" --memory "$memory" "$out/store" "$out/fingerprints.parquet"
fpdedup clusters --memory "$memory" --report --output "$out/labels.parquet" "$out/store" > "$out/report.txt"
fpdedup keep --memory "$memory" --evidence "$out/removed.parquet" --output "$out/kept.parquet" "$out/store"
