"""Processes that documents.py times, apart from command lines:

    documents_peers.py copy PARTS EVIDENCE OUT           the rows whose id is not in the evidence, by pyarrow
    documents_peers.py exact PARTS FOLDER WORKERS        datatrove's ExactDedup, its three stages
    documents_peers.py minhash PARTS FOLDER WORKERS      datatrove's MinHash deduplication, its four stages

The stages and their settings are those of datatrove's own examples; the documents left are in FOLDER/out.
"""
import pathlib
import sys


def copy(parts, evidence, out):
    import pyarrow.parquet

    without(parts, pyarrow.parquet.read_table(evidence, columns=["id"])["id"].combine_chunks().cast("int64"), out)


def without(parts, gone, out):
    """Writes the rows with other ids."""
    import pyarrow.compute
    import pyarrow.dataset
    import pyarrow.parquet

    gone = pyarrow.array(gone, "int64")
    rows = pyarrow.dataset.dataset(parts)
    with pyarrow.parquet.ParquetWriter(out, rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write_batch(batch.filter(pyarrow.compute.invert(pyarrow.compute.is_in(batch["id"], gone))))


def text(document) -> str:
    return document.text


def run(stages, folder, workers):
    """Runs datatrove's stages: pairs of a pipeline and its number of tasks."""
    from datatrove.executor import LocalPipelineExecutor

    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=min(tasks, workers),
                              logging_dir=str(folder / f"log-{number}")).run()


def writer(parts, folder):
    """datatrove's writer of the columns of the input."""
    import pyarrow.dataset
    from datatrove.pipeline.writers import ParquetWriter

    return ParquetWriter(str(folder / "out"), expand_metadata=True, schema=pyarrow.dataset.dataset(parts).schema)


def exact(parts, folder, workers):
    from datatrove.pipeline.dedup import ExactDedupFilter, ExactDedupSignature, ExactFindDedups
    from datatrove.pipeline.dedup.exact_dedup import ExactDedupConfig
    from datatrove.pipeline.readers import ParquetReader

    config = ExactDedupConfig(content_getter=text)
    signatures, found = str(folder / "signatures"), str(folder / "found")
    run([([ParquetReader(parts), ExactDedupSignature(signatures, config, finder_workers=workers)], workers),
         ([ExactFindDedups(signatures, found, config)], workers),
         ([ParquetReader(parts), ExactDedupFilter(found, config), writer(parts, folder)], workers)],
        folder, workers)


def minhash(parts, folder, workers):
    from datatrove.pipeline.dedup import (MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter,
                                          MinhashDedupSignature)
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import ParquetReader

    config = MinhashConfig()
    signatures, buckets, found = (str(folder / part) for part in ("signatures", "buckets", "found"))
    run([([ParquetReader(parts), MinhashDedupSignature(signatures, config)], workers),
         ([MinhashDedupBuckets(signatures, buckets, config=config)], config.num_buckets),
         ([MinhashDedupCluster(buckets, found, config=config)], 1),
         ([ParquetReader(parts), MinhashDedupFilter(found), writer(parts, folder)], workers)],
        folder, workers)


if __name__ == "__main__":
    kind, source, *rest = sys.argv[1:]
    if kind == "copy":
        copy(source, *rest)
    else:
        {"exact": exact, "minhash": minhash}[kind](source, pathlib.Path(rest[0]), int(rest[1]))
