//! Writes the few elements of SVG that a picture needs.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;

use crate::output::File;

/// Opens the file that `--picture` names: an unusable name fails before the work begins.
///
/// # Errors
///
/// If the name does not end in `.svg`, or the file cannot be created.
pub fn open(path: &Path) -> anyhow::Result<File> {
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        bail!("--picture {}: the picture is SVG; use a name that ends in .svg", path.display());
    }
    File::named("--picture", path)
}

const BLACK: &str = "#222222";

/// The end of a text at its place.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// The first character is at the place.
    Start,
    /// The middle of the text is at the place.
    Middle,
    /// The last character is at the place.
    End,
}

/// A picture with a white background, so that it is readable in a dark viewer, too.
#[derive(Debug)]
pub struct Svg(String);

impl Svg {
    /// A picture of this size, without elements.
    #[must_use]
    pub fn new(width: u32, height: u32, title: &str) -> Self {
        let title = escaped(title);
        let head = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        );
        Self(head)
    }

    /// A filled rectangle; a viewer shows `tip` for it.
    pub fn rect(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], fill: &str, tip: &str) {
        let tip = if tip.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(tip)) };
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\">{tip}</rect>"
        );
    }

    /// A line; `dashes` are the lengths of dashes and gaps.
    pub fn line(&mut self, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2], colour: &str, dashes: &str) {
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(
            self.0,
            "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\" stroke=\"{colour}\"{dashes}/>"
        );
    }

    /// A text; `more` are further attributes.
    pub fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, more: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (space, text) = (if more.is_empty() { "" } else { " " }, escaped(text));
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{BLACK}\"{space}{more}>{text}</text>"
        );
    }

    /// The text of the whole picture.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut svg = Svg::new(10, 20, "a < b");
        svg.text([1.0, 2.26], Anchor::End, "", "c & d");
        svg.rect([0.0, 1.0], [2.0, 3.0], "red", "<tip>");
        let text = svg.finish();
        assert!(text.contains("<title>a &lt; b</title>\n<rect width=\"10\" height=\"20\" fill=\"#ffffff\"/>"));
        assert!(text.contains(" y=\"2.3\" text-anchor=\"end\" fill=\"#222222\">c &amp; d</text>"), "{text}");
        assert!(text.contains("fill=\"red\"><title>&lt;tip&gt;</title></rect>"));
    }
}
