//! Progress of the work, on standard error and only on a terminal.
//!
//! [`Progress`] counts bytes of input as they are read from the file, before decompression. So the total is known for
//! compressed input too, and the bar is exact. The bar disappears at the end.

use std::io::{self, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

const BAR: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
const SHARE: &str = "{msg} {wide_bar} {percent}% {eta}";
const SPINNER: &str = "{spinner} {msg} {bytes} {bytes_per_sec}";

/// A progress bar, or none.
#[derive(Clone, Debug)]
pub struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows no progress.
    #[must_use]
    pub const fn hidden() -> Self {
        Self(None)
    }

    /// Shows a bar over `total` bytes, or a spinner if the total is not known.
    #[must_use]
    pub fn bytes(total: Option<u64>) -> Self {
        let (bar, template) = match total {
            Some(total) => (ProgressBar::new(total), BAR),
            None => (ProgressBar::new_spinner(), SPINNER),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(Some(bar))
    }

    /// Shows a spinner with a text, for work of unknown length. It turns by itself.
    #[must_use]
    pub fn spinner(message: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(message);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(Some(bar))
    }

    /// Shows a bar over a share of the work, 0 to 1; it calls `share` ten times a second.
    #[must_use]
    pub fn share(message: &'static str, share: impl Fn() -> f64 + Send + 'static) -> Self {
        const STEPS: u64 = 1000;
        let bar = ProgressBar::new(STEPS).with_message(message);
        if let Ok(style) = ProgressStyle::with_template(SHARE) {
            bar.set_style(style);
        }
        let asked = bar.downgrade();
        // Ends with the bar.
        std::thread::spawn(move || {
            while let Some(bar) = asked.upgrade().filter(|bar| !bar.is_finished()) {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
                bar.set_position((share().clamp(0.0, 1.0) * STEPS as f64) as u64);
                drop(bar);
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        Self(Some(bar))
    }

    /// Sets the text of the bar.
    pub fn message(&self, message: String) {
        if let Some(bar) = &self.0 {
            bar.set_message(message);
        }
    }

    /// Removes the bar from the screen.
    pub fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }

    /// Counts the bytes that are read through the result.
    pub fn count<R: Read>(&self, inner: R) -> Counted<R> {
        Counted { inner, progress: self.clone() }
    }
}

/// A reader whose bytes a [`Progress`] counts.
#[derive(Debug)]
pub struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        if let Some(bar) = &self.progress.0 {
            bar.inc(n as u64);
        }
        Ok(n)
    }
}
