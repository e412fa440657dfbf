//! Documents for tests.

use std::fs;
use std::path::Path;

use super::{Content, Document, DocumentId, DocumentOptions, Inputs, each};
use crate::input::testing::packed;
use crate::progress::Progress;

/// Returns a document with a text.
pub(super) fn document(id: DocumentId, text: &str) -> Document {
    Document { id, content: Content::Text(text.to_owned()), number: 0 }
}

/// Returns an id that is a text.
pub(super) fn id(text: &str) -> DocumentId {
    DocumentId::Text(text.to_owned())
}

/// Returns the documents of inputs below a directory, whose path is removed from ids and messages: all documents before
/// an error, with number 0, and the error as text.
pub(super) fn below(dir: &Path, names: &[&str], options: &DocumentOptions) -> (Vec<Document>, Result<(), String>) {
    let prefix = format!("{}/", dir.display());
    let arguments: Vec<_> = names.iter().map(|name| dir.join(name).into()).collect();
    let mut documents = Vec::new();
    let take = |batch| {
        documents.extend(batch);
        Ok(())
    };
    let read = Inputs::new(&arguments, options)
        .and_then(|inputs| each(&inputs, 1 << 20, 0, &Progress::hidden(), |document, _| Ok(document), take))
        .map_err(|error| format!("{error:#}").replace(&prefix, ""));
    if let Ok(counts) = read {
        assert_eq!(counts.documents, documents.len() as u64);
        assert_eq!(counts.bytes, documents.iter().map(|document| document.content.bytes()).sum::<u64>());
    }
    for (document, number) in documents.iter_mut().zip(0..) {
        assert_eq!(document.number, number);
        document.number = 0;
        if let DocumentId::Text(id) = &mut document.id {
            *id = id.replace(&prefix, "");
        }
    }
    (documents, read.map(|_| ()))
}

/// Returns the documents of a file of that name and content, or the first error.
pub(super) fn read(name: &str, content: &[u8], options: &DocumentOptions) -> Result<Vec<Document>, String> {
    raw(name, &packed(name, content), options)
}

/// Returns the documents of a file of these bytes, or the first error.
pub(super) fn raw(name: &str, bytes: &[u8], options: &DocumentOptions) -> Result<Vec<Document>, String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    let (documents, result) = below(dir.path(), &[name], options);
    result.map(|()| documents)
}

/// Returns options that name the columns of id, text and tokens.
pub(super) fn columns(id: Option<&str>, text: Option<&str>, tokens: Option<&str>) -> DocumentOptions {
    let [id_column, text_column, tokens_column] = [id, text, tokens].map(|name| name.map(str::to_owned));
    DocumentOptions { id_column, text_column, tokens_column, ..DocumentOptions::default() }
}
