//! Ring files: what is written is read again, and hostile bytes are refused with a reason.

use std::fs;

use crate::support::{equal, settings};
use fpring::{ErrorKind, Hash, Node, Ring, Settings, file};
use proptest::prelude::*;

const SOUND: &str = r#"{"format":"fpstore ring","version":1,"hash":"xxh64","virtual":8,"replicas":2,"nodes":[
    {"name":"a","weight":1.0},{"name":"b","weight":0.1,"path":"../b"}]}"#;

#[test]
fn a_ring_survives_its_file() {
    let ring = file::parse(SOUND.as_bytes()).unwrap();
    assert_eq!(ring.settings(), settings(Hash::Xxh64, 8, 2));
    let b = Node::new("b").unwrap().with_weight(0.1).unwrap().with_path(Some("../b")).unwrap();
    assert_eq!(ring.nodes(), [Node::new("a").unwrap(), b]);
    assert_eq!(file::parse(file::print(&ring).as_bytes()).unwrap(), ring);
}

#[test]
fn what_is_wrong_is_named() {
    for (from, to, part) in [
        ("fpstore ring", "ring", "its format is 'ring'"),
        ("\"version\":1", "\"version\":2", "version 2"),
        ("\"version\":1", "\"version\":-1", "no ring file"),
        ("xxh64", "crc32", "there is no hash 'crc32'"),
        ("\"virtual\":8", "\"virtual\":0", "0 virtual nodes"),
        ("\"virtual\":8", "\"virtual\":70000", "1 to 65536"),
        ("\"virtual\":8", "\"virtual\":8.5", "damaged"),
        ("\"virtual\":8,", "", "missing field `virtual`"),
        ("\"virtual\":8,", "\"virtual\":8,\"virtual\":8,", "duplicate field `virtual`"),
        ("\"virtual\":8,", "\"virtual\":8,\"colour\":1,", "unknown field `colour`"),
        ("\"replicas\":2", "\"replicas\":0", "0 replicas"),
        ("\"replicas\":2", "\"replicas\":3", "3 replicas need as many nodes"),
        ("\"name\":\"b\"", "\"name\":\"a\"", "node a is there twice"),
        ("\"name\":\"b\"", "\"name\":\"\"", "empty name"),
        ("\"name\":\"b\"", "\"name\":\"b\\tc\"", "which no name may have"),
        ("\"name\":\"b\"", "\"name\":\"b#1\"", "the character '#'"),
        ("\"weight\":0.1", "\"weight\":0", "has the weight 0"),
        ("\"weight\":0.1", "\"weight\":-0.5", "has the weight -0.5"),
        ("\"weight\":0.1", "\"weight\":1e999", "out of range"),
        ("\"weight\":0.1", "\"weight\":null", "damaged"),
        ("\"weight\":0.1", "\"weight\":1000000", "have 8000008 virtual nodes together"),
        ("\"../b\"", "\"\"", "is not possible"),
        ("\"../b\"", "null", "damaged"),
        ("\"../b\"", "\"a\"", "the path 'a' of another node"),
        ("\"path\"", "\"place\"", "unknown field `place`"),
        ("]}", "]}}", "trailing characters"),
        ("]}", "", "EOF"),
    ] {
        assert!(SOUND.contains(from));
        let error = file::parse(SOUND.replace(from, to).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(part), "{from} -> {to}: {error}");
        assert!([ErrorKind::Damaged, ErrorKind::Unsupported].contains(&error.kind()), "{error:?}");
    }
    let nodes = r#"{"format":"fpstore ring","version":1,"hash":"xxh64","virtual":8,"replicas":1,"nodes":[]}"#;
    assert!(file::parse(nodes.as_bytes()).unwrap_err().to_string().contains("at least one node"));
    for bytes in [&b""[..], b"\0", b"[]", b"null", b"{\"format\":1}", &[b'['; 1 << 16], b"\xff\xfe{}"] {
        assert_eq!(file::parse(bytes).unwrap_err().kind(), ErrorKind::Damaged);
    }
}

proptest! {
    #[test]
    fn changed_bytes_are_refused_or_a_ring(at in 0..SOUND.len(), byte in any::<u8>()) {
        let mut bytes = SOUND.as_bytes().to_vec();
        bytes[at] = byte;
        if let Ok(ring) = file::parse(&bytes) {
            prop_assert_eq!(file::parse(file::print(&ring).as_bytes()).unwrap(), ring);
        }
        prop_assert!(file::parse(&bytes[..at]).is_err());
    }

    #[test]
    fn weights_are_read_as_written(weight in 1e-9..1000.0_f64) {
        let node = Node::new("a").unwrap().with_weight(weight).unwrap();
        let ring = Ring::new(Settings { virtual_nodes: 1, ..Settings::default() }, vec![node]).unwrap();
        prop_assert_eq!(file::parse(file::print(&ring).as_bytes()).unwrap().nodes()[0].weight(), weight);
    }
}

#[test]
fn a_file_is_created_once_and_replaced_whole() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("ring.json");
    assert_eq!(file::read(&path).unwrap_err().kind(), ErrorKind::NotFound);
    let (two, three) = (equal(Settings::default(), 2), equal(Settings::default(), 3));
    file::create(&path, &two).unwrap();
    assert_eq!(file::create(&path, &three).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(file::read(&path).unwrap(), two);
    file::replace(&path, &three).unwrap();
    assert_eq!(file::read(&path).unwrap(), three);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing stays beside the file");
    fs::write(&path, "{}").unwrap();
    let error = file::read(&path).unwrap_err();
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    assert_eq!((error.kind(), error.path()), (ErrorKind::Damaged, Some(&*path)));
    assert_eq!(file::create(&place.path().join("no/ring"), &two).unwrap_err().kind(), ErrorKind::NotFound);
}
