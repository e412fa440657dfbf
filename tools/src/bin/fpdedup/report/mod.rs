//! The report on clusters and on the records that are removed: for people, for programs, and as a picture.

mod about;
mod chart;
mod histogram;
mod object;
mod picture;
mod text;

pub(crate) use about::{About, Near};

use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use fpstore::Fingerprint;
use fpstore::clusters::{ClusterReport, Clustering};
use fpstore_tools::output::File;
use fpstore_tools::svg;

use crate::args::ReportOptions;

/// Number of large clusters in a report.
const LARGEST: usize = 10;

/// A report that is wanted, and its destinations.
pub(crate) struct Reporting {
    is_printed: bool,
    picture: Option<File>,
}

impl Reporting {
    /// Opens the file of the picture: an unusable name fails before the work begins.
    pub(crate) fn open(options: &ReportOptions) -> anyhow::Result<Self> {
        let picture = options.picture.as_deref().map(svg::open).transpose()?;
        Ok(Self { is_printed: options.report, picture })
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.is_printed || self.picture.is_some()
    }

    /// Whether rows are written, too: a report takes standard output.
    pub(crate) fn leaves_rows(&self, output: Option<&Path>) -> bool {
        !self.is_printed || output.is_some()
    }

    /// Makes the report, if it is wanted.
    pub(crate) fn make<F: Fingerprint>(&self, clustering: &Clustering<F>) -> fpstore::Result<Option<ClusterReport<F>>> {
        self.is_wanted().then(|| clustering.report(LARGEST)).transpose()
    }

    /// Writes the report to standard output and to the file of the picture.
    pub(crate) fn write<F: Fingerprint>(
        self,
        found: &ClusterReport<F>,
        about: About,
        json: bool,
    ) -> anyhow::Result<()> {
        if let Some(mut file) = self.picture {
            file.write_all(picture::draw(found, about).as_bytes()).with_context(|| file.name())?;
            file.finish()?;
        }
        if self.is_printed {
            let mut out = BufWriter::new(io::stdout().lock());
            if json {
                object::write(found, about, &mut out)?;
            } else {
                text::write(found, about, &mut out)?;
            }
            out.flush()?;
        }
        Ok(())
    }
}
