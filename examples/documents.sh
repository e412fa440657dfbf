#!/bin/sh
# A corpus without near-duplicates: documents in, the ids of those to keep out.
#
#   examples/documents.sh OUT DOCUMENTS...
#
# DOCUMENTS  columns id and text (NDJSON, JSON, CSV, TSV, Parquet, also .gz or .zst), directories of such files, or text files
# OUT        a new directory for the results:
#   rejects.tsv           documents without a fingerprint: input, line or record, reason
#   fingerprints.parquet  fingerprint and id of every other document
#   labels.parquet        id and cluster of every other document
#   kept.parquet          ids of the documents to keep: one a cluster
#   report.txt            what the clusters look like
#
# DISTANCE is the number of bits within which two documents are near-duplicates, MEMORY bounds the memory of every step.
# The kept documents themselves, with DuckDB: COPY (FROM 'docs.parquet' SEMI JOIN 'OUT/kept.parquet' USING (id)) TO 'out.parquet'
set -eu

out=$1
shift
memory=${MEMORY:-1GiB} distance=${DISTANCE:-6}

mkdir "$out"
fphash simhash --memory "$memory" --on-error skip --rejects "$out/rejects.tsv" --output "$out/fingerprints.parquet" "$@"
fpload --create --max-distance "$distance" --memory "$memory" "$out/store" "$out/fingerprints.parquet"
fpdedup clusters --memory "$memory" --report --output "$out/labels.parquet" "$out/store" > "$out/report.txt"
fpdedup keep --memory "$memory" --output "$out/kept.parquet" "$out/store"
