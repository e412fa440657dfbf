//! Benches are in files of their own; packages have their manifests without them.
