"""What jobs of `fpstore.stages` have decided."""

import pyarrow.parquet as pq

from fpstore import stages


def results(job):
    """The removed records in the order of their ids, and the column `row` of the rows that stay."""
    assert all(not job.missing(stage) for stage in stages.STAGES)
    removed, files = pq.read_table(job.removed()).to_pylist(), len(job.removed())
    order = sorted(removed, key=lambda one: one["id"])
    # One file is in this order; of several, each one for each share of the ids.
    assert removed == order or files > 1
    return order, pq.read_table(job.kept())["row"].to_pylist()


def rounds(job):
    """The number of steps that found the components."""
    return job.tasks("components") // job.tasks("decide")


def divide(job, shares):
    """Runs the stages up to `join`; then the others have several shares, as if no task had memory for all links."""
    for stage in stages.STAGES[: stages.STAGES.index("components")]:
        for task in job.missing(stage):
            job.run(stage, task)
    (job.folder / "components").mkdir()
    (job.folder / "components" / "shares").write_text(f"{shares}\n", "utf-8")
    return job
