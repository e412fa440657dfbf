//! `fpdedup keep`: one id for each cluster, and the evidence on all other records. Warns of records that are left out
//! although they are far from the record that is kept. With earlier evidence, only new records are compared.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clustering, Clusters, Decision, Label, LeftOut, Linkage, Nearness, Removed};
use fpstore::{ErrorKind, Fingerprint, Id, IdKind};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{EvidenceReader, Ground, Ids, Source};
use fpstore_tools::notice;
use fpstore_tools::number::count_of;
use fpstore_tools::output::{Column, EVIDENCE, KEY_EVIDENCE, Output, Rows};
use fpstore_tools::progress::Progress;

use crate::args::{KeepOptions, Options};
use crate::clusters::Beside;
use crate::job::{Job, Needs, Writing, open};
use crate::label_rows::{push_label, push_record};
use crate::loaded::Other;
use crate::priorities::Kept;
use crate::report::{About, Near, Reporting};
use crate::search::Search;

/// The column of ids, and the column for a store without ids.
const COLUMNS: &[Column] = &[Column::id("id")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint")];

/// The columns of evidence for a store without ids.
const EVIDENCE_WITHOUT_IDS: &[Column] = &[
    Column::fingerprint("fingerprint"),
    Column::fingerprint("keeper"),
    Column::fingerprint("cluster"),
    Column::number("distance"),
    Column::number("count"),
];

pub(crate) fn run<F: Fingerprint>(
    common: Common,
    beside: &Beside<'_>,
    keep: &KeepOptions,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let ids = store.parameters().ids();
    beside.check(&keep.order)?;
    let (linkage, distance) = (keep.order.linkage_or(Linkage::Star), job.distance(&store)?);
    check_previous(beside, linkage)?;
    let new = beside.new.map(|new| Other::open(&job, &store, new, beside.input, Ids::Is(ids))).transpose()?;
    let reporting = Reporting::open(&keep.report)?;
    let needs = Needs { report: reporting.is_wanted(), evidence: beside.previous.is_some() };
    let has_new = new.as_ref().map(|new| &new.store);
    let (clusters, budget) = job.clusters(&store, has_new, linkage, needs)?;
    let kept = Kept::read(&job, &keep.order, beside.input.id_column.as_deref(), ids, budget)?;
    let clusters = clusters.with_keepers().with_memory(budget.has - kept.bytes());
    let search = Search { job: &job, clusters, kept, ids, linkage, near: Near::Distance(distance), reporting };
    search.keep(beside, keep.evidence.as_deref(), |_, _, left| job.warn_of_chains(left.far, left.records, distance))
}

impl<F: Fingerprint> Search<'_, F> {
    /// Finds the clusters, and writes the records to keep, the evidence on the others and the report. `warn` warns of
    /// what was found.
    pub(crate) fn keep(
        self,
        beside: &Beside<'_>,
        evidence: Option<&Path>,
        warn: impl FnOnce(&Clusters<F>, &Clustering<F>, LeftOut),
    ) -> anyhow::Result<Outcome> {
        let Self { job, clusters, kept, ids, linkage, near, reporting } = self;
        let open = |(option, path), columns| {
            Output::open((option, path), job.json(), columns, F::WIDTH, &[ids == IdKind::Text; 3])
        };
        let path = job.options.output.as_deref();
        let columns = if ids == IdKind::None { WITHOUT_IDS } else { COLUMNS };
        let output = reporting.leaves_rows(path).then(|| open(("--output", path), columns)).transpose()?;
        let columns = match near {
            Near::Keys { .. } => KEY_EVIDENCE,
            Near::Distance(_) if ids == IdKind::None => EVIDENCE_WITHOUT_IDS,
            Near::Distance(_) => EVIDENCE,
        };
        let evidence = evidence.map(|path| open(("--evidence", Some(path)), columns)).transpose()?;
        let shown = job.watch("clusters", clusters.progress())?;
        let clustering = match beside.previous {
            Some(previous) => go_on(previous, job, &clusters, (&kept, ids), near)?,
            None => clusters.find(&kept.keeper)?,
        };
        let report = reporting.make(&clustering)?;
        shown.finish();
        let mut outputs = [output, evidence].map(|output| output.map(Writing::new));
        let mut left = write(&clustering, &mut outputs)?;
        let [written, removed] = outputs;
        // Evidence appears only beside a complete list of what is kept.
        let written = written.map(Writing::finish).transpose()?;
        removed.map(Writing::finish).transpose()?;
        kept.warn_of_unknown();
        if let Some(report) = report {
            left = LeftOut { records: report.records.saturating_sub(report.clusters), far: report.removed.far };
            let has_previous = beside.previous.is_some();
            reporting.write(&report, About { linkage, near, has_previous, names: ["kept", "removed"] }, job.json())?;
        }
        warn(&clusters, &clustering, left);
        warn_of_overruled(clustering.overruled());
        if let Some(written) = written {
            let searched =
                beside.previous.map(|_| format!("{} compared", count_of(clustering.searched(), near.thing())));
            job.done_with(written, "cluster", searched);
        }
        Ok(Outcome::Done)
    }
}

/// Rejects evidence that cannot be continued.
pub(crate) fn check_previous(beside: &Beside<'_>, linkage: Linkage) -> anyhow::Result<()> {
    if beside.previous.is_some() && linkage != Linkage::Star {
        bail!(
            "--previous continues the evidence of --linkage star; with another linkage all records are compared anew"
        );
    }
    if beside.previous.is_some() && beside.new.is_none() {
        bail!("--previous has the evidence on the records of the store: say with --new which records are added");
    }
    Ok(())
}

/// Rows of kept and of removed records.
type Found = [Option<Rows>; 2];

/// Writes a row for every cluster and, if evidence is wanted, for every record that is not kept.
fn write<F: Fingerprint>(clustering: &Clustering<F>, outputs: &mut [Option<Writing>; 2]) -> anyhow::Result<LeftOut> {
    let [empty_of_kept, empty_of_removed] = outputs.each_ref().map(|writing| writing.as_ref().map(Writing::empty));
    let end = |rows: &mut Rows| {
        rows.end_row();
        if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let keep = |[rows, _]: &mut Found, label: Label<F>| {
        let Some(empty) = &empty_of_kept else { return ControlFlow::Continue(()) };
        let rows = rows.get_or_insert_with(|| empty.take());
        push_label(rows, &label);
        end(rows)
    };
    let remove = |[_, rows]: &mut Found, one: Removed<F>| {
        let Some(empty) = &empty_of_removed else { return ControlFlow::Continue(()) };
        let rows = rows.get_or_insert_with(|| empty.take());
        push_record(rows, &one.record);
        [&one.keeper, &one.cluster].into_iter().for_each(|label| push_label(rows, label));
        match one.nearness {
            Nearness::Distance(distance) => rows.number(distance.into()),
            Nearness::Keys { shared, jaccard } => {
                rows.number(shared);
                rows.estimate(jaccard);
            }
        }
        if let Id::Count(count) = one.record.id {
            rows.number(count);
        }
        end(rows)
    };
    let sink = |found: Found| {
        for (writing, rows) in outputs.iter_mut().zip(found) {
            if let Some(writing) = writing
                && writing.write_found(rows)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let left = match (&empty_of_kept, &empty_of_removed) {
        (None, None) => LeftOut::default(),
        (_, None) => clustering.visit_kept(keep, sink)?,
        (_, Some(_)) => {
            let add = |found: &mut Found, decision| match decision {
                Decision::Kept(label) => keep(found, label),
                Decision::Removed(one) => remove(found, one),
            };
            clustering.visit_decisions(add, sink)?
        }
    };
    // If one cannot be written, both are incomplete.
    outputs.iter_mut().flatten().try_for_each(Writing::check)?;
    Ok(left)
}

/// Continues from the evidence of an earlier run.
fn go_on<F: Fingerprint>(
    previous: &Path,
    job: &Job<'_>,
    clusters: &Clusters<F>,
    (kept, kind): (&Kept, IdKind),
    near: Near,
) -> anyhow::Result<Clustering<F>> {
    let source = Source::new(previous.as_os_str());
    // The library names the line.
    let name = |error: fpstore::Error| match error.kind() {
        ErrorKind::InvalidInput => anyhow::Error::new(error).context(source.name().to_string()),
        _ => error.into(),
    };
    let of_keys = matches!(near, Near::Keys { .. });
    let mut removals = clusters.removals()?;
    let reader = EvidenceReader::open(&source, kind, Some(&job.temp_dir()), &Progress::hidden())?.of_keys(of_keys);
    reader.each(|one| {
        let nearness = match one.ground {
            Ground::Distance(distance) if !of_keys => Nearness::Distance(distance),
            Ground::SharedKeys(shared) if of_keys => Nearness::Keys { shared, jaccard: None },
            Ground::Distance(_) => {
                bail!("{}: it is evidence of fingerprints, the store is a key index", source.name())
            }
            Ground::SharedKeys(_) => {
                bail!("{}: it is evidence of a key index, the store is of fingerprints", source.name())
            }
        };
        removals.push(one.record, one.keeper, nearness, one.line).map_err(name)
    })?;
    clusters.find_from_removals(removals, &kept.keeper).map_err(name)
}

/// Warns of records that a search of all might have kept.
fn warn_of_overruled(overruled: u64) {
    if overruled > 0 {
        notice::warn(format_args!(
            "{} been removed by earlier keepers although --keep prefers {}: without --previous, other records may be \
             kept",
            if overruled == 1 {
                "1 new record has".to_owned()
            } else {
                format!("{} have", count_of(overruled, "new record"))
            },
            if overruled == 1 { "it" } else { "them" },
        ));
    }
}
